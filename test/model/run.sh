#!/usr/bin/env bash
# Checks the models in full, and that each planted bug is found. Needs spin, gcc, and Relacy for
# weak_orders.cpp.
#   test/model/run.sh [MODEL...]      all, or those that are named: weak_orders gvt
# Each check may take 300 seconds of processor time.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0
wanted=" ${*:-every} "
for model in "$@"; do
    if [ ! -f "$here/$model.pml" ] && [ ! -f "$here/$model.cpp" ]; then
        echo "run.sh: there is no model $model"
        exit 2
    fi
done

# asks MODEL: whether the model is to be checked.
asks() { [[ $wanted = *" every "* || $wanted = *" $1 "* ]]; }

# tally GOOD TEXT DETAILS: counts and tells a check; GOOD is true or false, and `log` is its log.
tally() {
    if $1; then
        passed=$((passed + 1))
        echo "ok   $2 ($3)"
    else
        failed=$((failed + 1))
        echo "FAIL $2: $3"
        tail -n 30 log
    fi
}

# check holds|fails MODEL [-D...]: builds the model's checker, runs it, and counts.
check() {
    local expected=$1 model=$2 found=nothing states begin=$SECONDS
    shift 2
    asks "$model" || return
    rm -f pan* ./*.trail
    if spin -a "$@" "$here/$model.pml" >log 2>&1 &&
        gcc -w -O2 -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=1900 -o pan pan.c >>log 2>&1 &&
        (ulimit -t 300 && exec ./pan -m1000000) >log 2>&1; then
        if grep -q 'errors: 0' log && ! grep -qE 'max search depth|not completed' log; then
            found=holds
        elif grep -qE '^pan:1: (assertion violated|invalid end state)' log; then
            found=fails
        fi
    fi
    states=$(awk '/states, stored/ { print $1 }' log)
    if [ "$found" = "$expected" ]; then
        tally true "$model $*" "$expected, ${states:-no} states, $((SECONDS - begin)) s"
    else
        tally false "$model $*" "expected $expected, found $found"
    fi
}

# weak 0|1 PROTOCOL [PLACE]: the protocol under weak memory holds (0), or not with that place planted.
weak() {
    local expected=$1 status
    shift
    (ulimit -t 300 && exec ./weak_orders "$@") >log 2>&1
    status=$?
    if [ $status -eq "$expected" ]; then
        tally true "weak_orders $*" "$([ $status -eq 0 ] && echo holds || echo fails)"
    else
        tally false "weak_orders $*" "exit code $status"
    fi
}

weak_all() {
    local protocol places place
    g++ -std=gnu++17 -O1 -w -o weak_orders "$here/weak_orders.cpp" >log 2>&1 || { cat log; failed=$((failed + 1)); return; }
    while read -r protocol places; do
        weak 0 "$protocol"
        for place in $places; do
            weak 1 "$protocol" "$place"
        done
    done < <(./weak_orders --list)
}

asks weak_orders && weak_all
check holds mailbox
for bug in NEXT_AFTER_TAIL NEXT_BEFORE_PUBLISH RELEASE_BEFORE_COPY; do
    check fails mailbox "-DBUG_$bug"
done
check holds gvt
check holds gvt -DWORKERS=3 -DSENDS=1 -DROUNDS=1
check holds gvt -DSENDS=1 -DROUNDS=3
for bug in NO_SENT_LEAST NO_TRANSIT ONE_WORD RESET_EARLY RESET_OWN LOWERED_LATE SAFE_BEFORE_RECEIVE ONE_CUT NO_FLUSH REPORT_UNPUBLISHED CANCEL_UNNOTED \
    NO_ROUND_TRIP; do
    check fails gvt "-DBUG_$bug"
done
check holds recorder
check holds recorder -DEVENTS=3 -DROUNDS=3
check holds recorder -DEVENTS=3 -DUNITS=2 -DROUNDS=3
for bug in NEXT_AFTER_USED SPEND_OPEN SPENT_OVERWRITTEN ASK_EARLY ASK_TWICE COMMIT_LATE CLOSED_LAST \
    SLEEP_BLIND WAKE_FIRST WAIT_FOR_IDLE; do
    check fails recorder "-DBUG_$bug"
done
check holds promise
check holds promise -DNEAR=0
check holds promise -DLAZY
check holds promise -DLAZY -DNEAR=0
check holds promise -DSENDS=2 -DJUMPS=0 -DSTRICT
check holds promise -DWORKERS=3 -DJUMPS=0 -DSTRICT
check holds promise -DWORKERS=3 -DJUMPS=0 -DSTRICT -DRING
check fails promise -DWORKERS=3 -DJUMPS=0 -DSTRICT -DRING -DBUG_RING_WRONG_WAY
for bug in STORE_BEFORE_PUBLISH MAIL_BEFORE_PROMISES NO_PENDING NO_BOUND CANCEL_UNPUBLISHED LEFT_OUT \
    OWN_PROMISE OWN_DELAY FOSSIL_NO_PENDING FOSSIL_NO_BOUND FOSSIL_AT \
    FINAL_AT FINAL_BEFORE_MAIL FINAL_BY_BOUND; do
    check fails promise "-DBUG_$bug"
done
check holds gather
check holds gather -DCHANGES=3 -DWORK=1
check holds gather -DTOGETHER
for bug in NO_AWAIT PARK_FIRST OVER_LAST LOOK_FIRST WAKE_FIRST; do
    check fails gather "-DBUG_$bug"
done
check holds send_quota
check holds send_quota -DONE_WAY
check holds send_quota -DDELAY=3
check holds send_quota -DMANY=1 -DTIMES=6
check holds send_quota -DMOVE
check holds send_quota -DMOVE -DDELAY=3
check holds send_quota -DMOVE -DMANY=1 -DMORE=3
for bug in FAR_APART NO_ROUND MARK_EARLY MARK_OLD NO_BOUND; do
    check fails send_quota "-DBUG_$bug"
done
for bug in MOVE_COUNTS MOVE_REACHED; do
    check fails send_quota -DMOVE -DMANY=1 -DMORE=3 "-DBUG_$bug"
done
check holds handover
check holds handover -DFORWARDS=1
check holds handover -DMIDDLE_OWNER=0
for bug in NO_REVERSE PLAIN_COUNT NOT_LISTED OVERTAKEN DIRECT NOT_HANDED NO_LOOK; do
    check fails handover "-DBUG_$bug"
done
check fails handover -DBUG_CROSS_LATE -DFORWARDS=1
check fails handover -DBUG_FORWARD_PLAIN -DMIDDLE_OWNER=0
check holds move -DSENDS=1
for bug in PLAN_LATE UNPUBLISHED NO_UNDO GIVE_EARLY TAKE_EARLY GO_ON_EARLY OWNERS_EARLY FREE_EARLY \
    PROMISE_KEPT SAFE_KEPT; do
    check fails move -DSENDS=1 "-DBUG_$bug"
done
check holds wait
check holds wait -DDELAY=1
for bug in LOOK_FIRST CIRCLE_FIRST CIRCLE_BLIND CALL_UNSEEN WAKE_FIRST COUNTED_LATE CALL_SILENT END_SILENT \
    WAKE_OTHERS; do
    check fails wait "-DBUG_$bug"
done
check holds listener
check holds listener -DFIRST_END=1
check holds listener -DCAUSES=3
for bug in NOT_MARKED NOT_DROPPED LAZY_FORGOTTEN LAZY_TWICE LAZY_GONE LAZY_MARKED ROOM_STAYS \
    PARTS_OVERLAP MERGE_EARLY HANDLE_EARLY FREE_EARLY CUT_TWICE PLACE_OWN COUNT_EARLY FREE_ALL FREE_SHORT \
    TO_THE_END PAST_THE_END; do
    check fails listener "-DBUG_$bug"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
