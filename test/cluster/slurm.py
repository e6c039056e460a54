"""A Slurm of one node on loopback, for tests: munged, slurmctld and slurmd as children of the test, with configuration, key,
sockets, ports and state in a folder of its own. Nothing of an installed Slurm is read or changed; no service of the
system runs. Everything is started here and ended here by its process id."""
import getpass
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
START_S = 30
STOP_S = 10


def missing():
    """The programs that are not installed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def _program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Slurm:
    def __init__(self, folder, cpus):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o755)
        self.children = []
        self.env = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))
        self._configure(cpus)

    def _configure(self, cpus):
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge.socket
CredType=cred/munge
SlurmctldPort={_free_port()}
SlurmdPort={_free_port()}
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
SlurmdSpoolDir={self.folder}/spool
StateSaveLocation={self.folder}/state
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
ReturnToService=2
MailProg=/bin/true
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1024 State=UNKNOWN
PartitionName=main Nodes=node1 Default=YES MaxTime=60 State=UP
""")
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")

    def __enter__(self):
        folder = self.folder
        self._start("munged", "--foreground", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key",
                    f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed")
        self._wait(lambda: (folder / "munge.socket").exists(), "munged has no socket")
        self._start("slurmctld", "-D", "-i", "-f", str(folder / "slurm.conf"))
        self._start("slurmd", "-D", "-f", str(folder / "slurm.conf"), "-N", "node1")
        self._wait(lambda: self._try("sinfo", "-h", "-o", "%t") == "idle", "the node is not idle")
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                try:
                    child.wait(STOP_S)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()

    def _start(self, name, *args):
        log = open(self.folder / f"{name}.out", "w", encoding="utf-8")
        self.children.append(subprocess.Popen([_program(name), *args], stdin=subprocess.DEVNULL, stdout=log,
                                              stderr=subprocess.STDOUT, env=self.env, cwd=self.folder))

    def _try(self, name, *args):
        done = subprocess.run([_program(name), *args], capture_output=True, text=True, env=self.env, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def _wait(self, condition, message):
        end = time.monotonic() + START_S
        while not condition():
            dead = [child.args[0] for child in self.children if child.poll() is not None]
            if dead or time.monotonic() > end:
                logs = "".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
                               for path in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")))
                raise AssertionError(f"{message}; ended: {dead}\n{logs}")
            time.sleep(0.2)

    def run(self, name, *args):
        """The standard output of one of Slurm's commands."""
        done = subprocess.run([_program(name), *args], capture_output=True, text=True, env=self.env,
                              cwd=self.folder, check=False)  # where a job's output goes
        assert done.returncode == 0, f"{name} {args}: {done.stderr}"
        return done.stdout.strip()

    def submit(self, script, *options):
        """The number of the job."""
        return int(self.run("sbatch", "--parsable", *options, str(script)).split(";")[0])

    def wait(self, job, limit_s):
        """Until no task of the job is pending or runs."""
        end = time.monotonic() + limit_s
        while self._try("squeue", "-h", "-j", str(job)) != "":
            assert time.monotonic() < end, f"job {job} does not end: {self.run('squeue')}"
            time.sleep(0.3)
