/*
 * mailbox.pml: the ring of core/exchange/mailbox.h with its growth: one sender, one receiver.
 *
 * Claims: messages arrive once each, in the order sent (the numbers are checked); the receiver
 * reads inside [head, tail) and the sender writes outside of it (I-MAIL-1); a ring is freed once,
 * when it has been read to its end and the sender will not touch it again (I-MAIL-2); no end is
 * reached before the last message has been taken.
 *
 * A unit stands for MAILBOX_ALIGN bytes. Messages are one or two units long, so that some would
 * wrap and a skip is written. Rings double from two units. Names are those of core/exchange/mailbox.c; each
 * load or store of `tail`, `head` and `next` is a step of its own, and so is each message's text.
 *
 * Planted bugs, each of which must be found:
 *   BUG_NEXT_AFTER_TAIL        the receiver reads `tail` before `next`
 *   BUG_NEXT_BEFORE_PUBLISH    the successor is linked before the old ring's last publication
 *   BUG_RELEASE_BEFORE_COPY    room is given back before what is in it has been copied
 */
#ifndef MESSAGES
#define MESSAGES 7
#endif
#define RINGS 4
#define NONE 0 /* ring 0 is nobody's successor */
#define SKIP 255

#define BYTES(ring) (2 << (ring))
#define AT(ring, position) (BYTES(ring) - 2 + ((position) & (BYTES(ring) - 1)))

byte data[30]; /* of all rings: the number of the message, or SKIP, at its first unit */
byte units[30];
byte tail[RINGS], head[RINGS], next[RINGS];
bool freed[RINGS];
byte taken; /* messages received */
bool ended; /* everything has been sent and published */

active proctype sender()
{
    byte writing, written, published, head_seen, sent, size, gap;
    do
    :: sent < MESSAGES ->
        if
        :: size = 1
        :: size = 2
        fi;
retry:
        skip;
        d_step {
            gap = BYTES(writing) - (written & (BYTES(writing) - 1));
            if
            :: gap >= size -> gap = 0
            :: else
            fi
        }
        if
        :: BYTES(writing) - (written - head_seen) < gap + size ->
            d_step { assert(!freed[writing]); head_seen = head[writing] }
        :: else
        fi;
        if
        :: BYTES(writing) - (written - head_seen) < gap + size -> goto extend
        :: else
        fi;
        d_step { /* the skip and the message: not known to the receiver yet */
            assert(!freed[writing]);
            assert(written + gap + size - head[writing] <= BYTES(writing));
            if
            :: gap > 0 ->
                data[AT(writing, written)] = SKIP;
                units[AT(writing, written)] = gap;
                written = written + gap
            :: else
            fi;
            data[AT(writing, written)] = sent;
            units[AT(writing, written)] = size;
            written = written + size;
            sent++;
            gap = 0;
            size = 0
        }
    :: published != written -> /* mailbox_publish() */
        d_step { assert(!freed[writing]); published = written; tail[writing] = written }
    :: sent == MESSAGES && published == written -> break
    od;
    goto done;

extend:
    assert(writing + 1 < RINGS);
#ifdef BUG_NEXT_BEFORE_PUBLISH
    d_step { assert(!freed[writing]); next[writing] = writing + 1 }
#endif
    d_step { assert(!freed[writing]); tail[writing] = written }
#ifndef BUG_NEXT_BEFORE_PUBLISH
    d_step { assert(!freed[writing]); next[writing] = writing + 1 }
#endif
    d_step { writing++; written = 0; published = 0; head_seen = 0 }
    goto retry;
done:
    ended = true
}

active proctype receiver()
{
    byte reading, read, tail_seen, next_seen, released, length;
    bool last;
    do
    :: read == tail_seen && taken < MESSAGES -> /* look_again() */
        last = ended;
#ifdef BUG_NEXT_AFTER_TAIL
        d_step { assert(!freed[reading]); tail_seen = tail[reading] }
        d_step { assert(!freed[reading]); next_seen = next[reading] }
#else
        d_step { assert(!freed[reading]); next_seen = next[reading] }
        d_step { assert(!freed[reading]); tail_seen = tail[reading] }
#endif
        if
        :: read == tail_seen && next_seen != NONE ->
            d_step {
                assert(!freed[reading]);
                freed[reading] = true;
                head[reading] = 0;
                tail[reading] = 0;
                next[reading] = NONE;
                reading = next_seen;
                read = 0;
                tail_seen = 0;
                released = 0
            }
        :: else -> assert(!last || read != tail_seen) /* nothing is lost */
        fi;
        d_step { next_seen = NONE; last = false }
    :: read != tail_seen ->
#ifdef BUG_RELEASE_BEFORE_COPY
        d_step { released = read + units[AT(reading, read)]; head[reading] = released }
#endif
        d_step { /* copies the message */
            assert(!freed[reading]);
            assert(head[reading] <= read && read < tail[reading]);
            if
            :: data[AT(reading, read)] != SKIP ->
                assert(data[AT(reading, read)] == taken);
                taken++
            :: else
            fi;
            /* what has been read is forgotten: fewer states */
            data[AT(reading, read)] = 0;
            length = units[AT(reading, read)];
            units[AT(reading, read)] = 0;
            read = read + length;
            length = 0
        }
    :: released != read -> /* mailbox_release() */
        d_step { assert(!freed[reading]); released = read; head[reading] = read }
    :: taken == MESSAGES && read == tail_seen -> break
    od
}
