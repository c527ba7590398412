"""Who may start the embedded Postgres of a folder, and what a killed or unseen owner leaves behind."""

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from app.advice import advise_operator
from app.store import embedded_account, schema
from app.store.embedded import embedded_postgres
from app.store.roles import build_service_url
from app.store.unfit import NoConnection, UnfitDatabase

pytestmark = pytest.mark.slow


def test_a_pid_that_is_another_process_by_now_is_not_taken_for_postgres(data_folder: Path) -> None:
    with embedded_postgres(data_folder) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept ()")
    folder = data_folder / "postgres"
    with subprocess.Popen(["sleep", "60"]) as bystander:
        (folder / "postmaster.pid").write_text(
            f"{bystander.pid}\n{folder}\n1700000000\n5432\n{folder}\n\n  1  2\nready   \n"
        )
        with embedded_postgres(data_folder) as url, psycopg.connect(url) as connection:
            connection.execute("SELECT FROM kept")
        assert bystander.poll() is None, "it is not stopped in place of Postgres"
        bystander.kill()


def test_a_folder_in_use_out_of_sight_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    """As from another container: its lock is seen, its processes are not."""
    folder = tmp_path / "postgres"
    folder.mkdir()
    (folder / "postmaster.pid").write_text("999999999\n")
    other = os.open(folder, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_SH)
    with (
        pytest.raises(UnfitDatabase, match="in use by a process that cannot be seen"),
        embedded_postgres(tmp_path),
    ):
        pass
    os.close(other)
    assert [file.name for file in folder.iterdir()] == ["postmaster.pid"]
    assert (folder / "postmaster.pid").read_text() == "999999999\n"


def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = pytest.raises(UnfitDatabase, match=r"file/data.* cannot be opened: Not a directory")
    with refused, embedded_postgres(tmp_path / "file" / "data"):
        pass


def test_two_that_start_at_once_share_one_postgres_and_the_last_stops_it(tmp_path: Path) -> None:
    environment = {**os.environ, "PALIMPSEST_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "app.cli", "migrate"]
    both = [
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in both:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert not (tmp_path / "postgres" / "postmaster.pid").exists()


def test_the_last_to_leave_stops_it_whoever_started_it(data_folder: Path) -> None:
    file = data_folder / "postgres" / "postmaster.pid"
    first, second = embedded_postgres(data_folder), embedded_postgres(data_folder)
    url = first.__enter__()
    assert second.__enter__() == url
    first.__exit__(None, None, None)
    psycopg.connect(url).close()
    second.__exit__(None, None, None)
    assert not file.exists()


def test_why_it_does_not_start_is_said(data_folder: Path) -> None:
    (data_folder / "postgres" / "PG_VERSION").write_text("1\n")
    refused = pytest.raises(UnfitDatabase, match=r"does not start: .*incompatible")
    with refused, embedded_postgres(data_folder):
        pass


@pytest.mark.parametrize(
    "name",
    [
        "Application Support",
        "Ümläute é 日本",
        'it\'s "quoted" `id` $HOME',
        "100% +%41 a#b?c&d=e",
        "ada@corp.example",
        "a,b:c;d",
        " blanks around ",
        "no UTF-8 \udcff",
        "C:\\back\\slash",
        "x" * 200,
    ],
)
def test_a_folder_of_any_name_serves_owner_and_service(name: str) -> None:
    # The socket is in the folder only if its path is short.
    with (
        tempfile.TemporaryDirectory(prefix="p", dir="/tmp") as short,
        embedded_postgres(Path(short) / name) as owner_url,
    ):
        service_url = build_service_url(owner_url)
        schema.migrate_database(owner_url, service_url)
        schema.check_schema(service_url)
        assert conninfo_to_dict(service_url)["host"] == conninfo_to_dict(owner_url)["host"]


def test_a_line_break_in_a_folder_is_refused(tmp_path: Path) -> None:
    refused = pytest.raises(UnfitDatabase, match=r"A line break is in its name")
    with refused, embedded_postgres(tmp_path / "a\nb"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("locale", ["xx_YY.UTF-8", "de_DE.ISO-8859-1", "C"])
def test_texts_are_unicode_in_every_locale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locale: str
) -> None:
    """A login from elsewhere names locales that this machine does not have."""
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.setenv(name, locale)
    with embedded_postgres(tmp_path) as url, psycopg.connect(url) as connection:
        found = connection.execute("SELECT lower('ÜBER'), 'Z' < 'a'").fetchone()
    assert found == ("über", True)


def test_files_of_others_in_its_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "thesis.txt").write_text("mine")
    with (
        pytest.raises(UnfitDatabase, match=r"exists but is not empty") as refused,
        embedded_postgres(tmp_path),
    ):
        pass
    assert str(tmp_path) in advise_operator(refused.value)
    assert "PALIMPSEST_DATA_DIR" in advise_operator(refused.value)


def test_the_reason_is_that_of_this_start(data_folder: Path) -> None:
    """The log holds the errors of earlier ones too."""
    folder = data_folder / "postgres"
    with (folder / "log").open("a") as log:
        log.write("2020-01-01 FATAL:  an old reason\n")
    (folder / "global" / "pg_control").rename(folder / "elsewhere")
    refused = pytest.raises(UnfitDatabase, match=r"could not find the database system.*pg_control")
    with refused, embedded_postgres(data_folder):
        pass


def test_a_lost_connection_names_the_folder_and_no_setting_that_nobody_set(
    data_folder: Path,
) -> None:
    refused = pytest.raises(UnfitDatabase, match=r"embedded Postgres in .*: Connection refused")
    with refused, embedded_postgres(data_folder):
        raise NoConnection("Connection refused")


def test_a_folder_with_a_long_path_and_odd_characters_serves(tmp_path: Path) -> None:
    data_dir = tmp_path / "a b%+'é" / ("long" * 30)
    with embedded_postgres(data_dir) as url, psycopg.connect(url) as connection:
        sockets = Path(connection.info.host)
        assert sockets.stat().st_mode & 0o777 == 0o700
    assert not sockets.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lets it run as another account")
def test_programs_that_its_account_cannot_reach_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of an environment below root's home, which is closed to others."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    package = embedded_account._find_package()
    for folder in (package, package.with_suffix(".libs")):
        (closed / folder.name).symlink_to(folder)
    monkeypatch.setattr(embedded_account, "_find_package", lambda: closed / package.name)
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        Path(name).chmod(0o711)
        monkeypatch.setattr(embedded_account, "COPIES", Path(name) / "copies")
        for _ in range(2):
            with embedded_postgres(tmp_path) as url, psycopg.connect(url) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                backend = psutil.Process(connection.info.backend_pid)
                assert backend.exe().startswith(name)
        assert len(list((Path(name) / "copies").iterdir())) == 1
