"""The receiver as a process: what it promises at a stop, at a kill, and to those it does not know."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import pytest

from otel2traj.capture.layout import ATTEMPTS, LOG
from otel2traj.capture.receiver import Receiver, Settings, open_to_others
from otel2traj.capture.router import Router
from otel2traj.capture.segments import Signal, records_from, segment_files
from otel2traj.errors import RefusedError, UsageError

from .requests import TRACE, as_json, as_protobuf, items, span, traces
from .running import Load, alive, children, running

CHAT = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "gpt-4.1", "gen_ai__conversation__id": "run-1"}
KILLS = int(os.environ.get("OTEL2TRAJ_TEST_KILLS", "3"))


def logged(root: Path) -> tuple[list[str], int]:
    """Span ids in the log, and how many bytes after the last whole record."""
    found: list[str] = []
    torn = 0
    for path in segment_files(root / LOG):
        end = 0
        with path.open("rb") as file:
            for record in records_from(file, 0):
                end = record.end
                if record.signal is not Signal.END:
                    found += [own.decode() for own in re.findall(rb'"spanId":"([0-9a-f]{16})"', record.body)]
        torn += bool(path.read_bytes()[end:].strip(b"\0"))
    return found, torn


def test_a_run_is_received_built_and_stopped_in_order(tmp_path: Path) -> None:
    with running(tmp_path, "--build-after", "0.3") as receiver:
        assert receiver.post(as_json(traces(span(**CHAT)))) == 200
        built = receiver.wait_for(tmp_path / ATTEMPTS / "run-1" / "trajectory.json")
        assert json.loads(built.read_bytes())
        later = as_protobuf(traces(span("2" * 32, "000000000000000a", **{**CHAT, "gen_ai__conversation__id": "run-2"})))
        assert receiver.post(later, kind="application/x-protobuf") == 200
        assert receiver.stop() == 0
    assert (tmp_path / ATTEMPTS / "run-2" / "trajectory.json").exists()  # built by the stop, quiet or not
    assert any("stopped" in line for line in receiver.lines)
    assert not any("Traceback" in line for line in receiver.lines)


def test_sighup_builds_what_there_is(tmp_path: Path) -> None:
    with running(tmp_path, "--build-after", "-1") as receiver:
        receiver.post(as_json(traces(span(**CHAT))))
        receiver.wait_for(tmp_path / ATTEMPTS / "run-1" / "otel.jsonl")
        time.sleep(0.5)
        assert not (tmp_path / ATTEMPTS / "run-1" / "trajectory.json").exists()
        receiver.process.send_signal(signal.SIGHUP)
        receiver.wait_for(tmp_path / ATTEMPTS / "run-1" / "trajectory.json")
        assert receiver.stop() == 0


def test_a_stop_under_load_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    with running(tmp_path, "--build-after", "-1") as receiver:
        load = Load(receiver.http)
        time.sleep(0.7)
        code = receiver.stop(signal.SIGINT)
        load.stop()
    assert code == 0
    assert len(load.acknowledged) > 100
    found, torn = logged(tmp_path)
    assert set(load.acknowledged) <= set(found)
    assert torn == 0
    derived = [s["spanId"] for s in items(tmp_path / ATTEMPTS / "load" / "otel.jsonl")]
    assert sorted(derived) == sorted(found)


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    with running(tmp_path) as receiver, socket.create_connection(("127.0.0.1", receiver.http), 5) as slow:
        slow.sendall(
            b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        )
        assert receiver.post(as_json(traces(span(**CHAT)))) == 200
        receiver.process.send_signal(signal.SIGTERM)
        time.sleep(0.4)
        assert receiver.process.poll() is None  # the slow client is still given its time
        begin = time.monotonic()
        assert receiver.stop() == 130
        assert time.monotonic() - begin < 5
    assert logged(tmp_path)[0] == ["b7ad6b7169203331"]


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc to see child processes")
def test_kills_under_load_lose_nothing_acknowledged(tmp_path: Path) -> None:
    """SIGKILL at a random moment, `OTEL2TRAJ_TEST_KILLS` times (3; 20 before a release) on one directory."""
    rng = random.Random(1)
    acknowledged: list[str] = []
    sent: list[str] = []
    for round_number in range(KILLS):
        with running(tmp_path, "--build-after", "-1", "--grpc-port", "-1") as receiver:
            helpers = children(receiver.process.pid)
            load = Load(receiver.http, spans=700 if round_number % 2 else 20, first=round_number * 10)
            time.sleep(rng.uniform(0.2, 0.7))
            receiver.process.kill()
            receiver.process.wait(10)
            load.stop()
            acknowledged += load.acknowledged
            sent += load.sent
            end = time.monotonic() + 10
            while any(alive(pid) for pid in helpers) and time.monotonic() < end:
                time.sleep(0.02)
            assert not any(alive(pid) for pid in helpers)
        found, torn = logged(tmp_path)
        assert set(acknowledged) <= set(found) <= set(sent)
        assert torn <= 1
    assert len(acknowledged) > 50 * KILLS
    with running(tmp_path, "--build-after", "-1") as receiver:
        assert receiver.post(as_json(traces(span(session__id="load")))) == 200
        assert receiver.stop() == 0
    found, torn = logged(tmp_path)
    assert torn == 0
    derived = [s["spanId"] for s in items(tmp_path / ATTEMPTS / "load" / "otel.jsonl")]
    assert sorted(derived) == sorted(found)


def test_the_deriving_process_is_started_again(tmp_path: Path) -> None:
    with running(tmp_path, "--build-after", "-1") as receiver:
        if not Path("/proc").exists():
            pytest.skip("needs /proc to find the child process")
        (child,) = children(receiver.process.pid)
        os.kill(child, signal.SIGKILL)
        receiver.post(as_json(traces(span(session__id="s"))))
        receiver.wait_for(tmp_path / ATTEMPTS / "s" / "otel.jsonl")
        assert receiver.stop() == 0


def test_a_receiver_whose_attempts_cannot_be_written_is_not_healthy_and_its_stop_says_so(tmp_path: Path) -> None:
    (tmp_path / ATTEMPTS).write_text("a file where the folder of attempts must be")
    with running(tmp_path, "--build-after", "0") as receiver:
        assert receiver.post(as_json(traces(span(**CHAT)))) == 200
        end = time.monotonic() + 20
        while (told := receiver.get("/healthz"))[0] == 200 and time.monotonic() < end:
            time.sleep(0.1)
        assert told[0] == 503
        assert b"not deriving" in told[1]
        assert receiver.get("/readyz")[0] == 200
        assert receiver.stop() == 1
    assert any("the log holds what it owes" in line for line in receiver.lines)
    assert len(logged(tmp_path)[0]) == 1


def test_remarks_as_json(tmp_path: Path) -> None:
    with running(tmp_path, "--build-after", "0.1", "--log-format", "json") as receiver:
        receiver.post(as_json(traces(span(**CHAT))))
        receiver.wait_for(tmp_path / ATTEMPTS / "run-1" / "trajectory.json")
        assert receiver.stop() == 0
    told = [json.loads(line) for line in receiver.lines]
    assert {"listening", "routed", "built", "stopping", "stopped"} <= {line["event"] for line in told}
    assert all({"time", "level", "message"} <= line.keys() for line in told)


def test_check_and_list_look_without_running(tmp_path: Path) -> None:
    def ask(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "otel2traj", "receive", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    with running(tmp_path) as receiver:
        for name in ("run-1", "other"):
            receiver.post(as_json(traces(span(f"{len(name):032x}", **{**CHAT, "gen_ai__conversation__id": name}))))
        assert receiver.stop() == 0
    checked = ask("--check", str(tmp_path))
    assert checked.returncode == 0
    assert "2 routed, 0 repeated, 0 rejected, 0 damaged; not read yet: 0" in checked.stdout
    listed = ask("--list", str(tmp_path), "--find", "run")
    assert listed.returncode == 0
    assert "run-1" in listed.stdout
    assert "other" not in listed.stdout
    (path,) = segment_files(tmp_path / LOG)
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    damaged = ask("--check", str(tmp_path))
    assert damaged.returncode == 1
    assert "damage: 00000001.seg @0+" in damaged.stdout
    assert ask("--check", str(tmp_path / "nowhere")).returncode == 3


def test_a_directory_has_one_receiver(tmp_path: Path) -> None:
    with running(tmp_path) as receiver:
        settings = Settings(tmp_path, http_port=0, grpc_port=None)
        with pytest.raises(RefusedError, match="another receiver"):
            Receiver(settings, None, version="t").run()
        assert receiver.stop() == 0


def test_a_taken_port_is_a_usage_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=str(port)):
            Receiver(Settings(tmp_path / "a", http_port=port, grpc_port=None), None, version="t").run()
        with pytest.raises(UsageError, match=str(port)):
            Receiver(Settings(tmp_path / "b", http_port=None, grpc_port=port), None, version="t").run()


@pytest.mark.parametrize(
    "options",
    [
        {"http_port": None, "grpc_port": None},
        {"tls_cert": Path("cert.pem")},
        {"client_ca": Path("ca.pem")},
        {"tls_cert": Path("none.pem"), "tls_key": Path("none.pem")},
        {"max_body": 10},
        {"host": "0.0.0.0"},
        {"host": "0.0.0.0", "token": "x"},
        {"token": ""},
        {"token": " "},
        {"auth_file": Path("none.txt")},
    ],
)
def test_settings_that_make_no_sense_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Receiver(Settings(tmp_path, **options), None, version="t")  # type: ignore[arg-type]


def test_a_door_is_open_that_does_not_both_ask_and_hide(tmp_path: Path) -> None:
    assert open_to_others(Settings(tmp_path, host="0.0.0.0"))
    assert open_to_others(Settings(tmp_path, host="0.0.0.0", token="x"))
    assert not open_to_others(Settings(tmp_path, host="0.0.0.0", token="x", tls_cert=tmp_path, tls_key=tmp_path))
    assert not open_to_others(Settings(tmp_path))


def make_certificates(folder: Path) -> None:
    """A CA, a server certificate for 127.0.0.1 and a client certificate, by the openssl program."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test ca")
    for name in ("server", "client"):
        sign = ("-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=IP:127.0.0.1")
        openssl("req", "-x509", *key, *sign, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")


def test_tls_and_client_certificates(tmp_path: Path) -> None:
    import grpc

    try:
        make_certificates(tmp_path)
    except (FileNotFoundError, subprocess.CalledProcessError) as err:
        pytest.skip(f"needs openssl 3: {err}")
    files = {name: str(tmp_path / name) for name in ("ca.pem", "server.pem", "server.key", "client.pem", "client.key")}
    tls = ("--tls-cert", files["server.pem"], "--tls-key", files["server.key"], "--client-ca", files["ca.pem"])
    body = as_protobuf(traces(span(**CHAT)))
    with running(tmp_path / "out", *tls) as receiver:

        def post(context: ssl.SSLContext) -> int:
            import http.client

            connection = http.client.HTTPSConnection("127.0.0.1", receiver.http, timeout=10, context=context)
            try:
                connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
                return connection.getresponse().status
            finally:
                connection.close()

        def call(**credentials: bytes) -> bytes:
            with grpc.secure_channel(
                f"127.0.0.1:{receiver.grpc}", grpc.ssl_channel_credentials(**credentials)
            ) as channel:
                method = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
                return method(body, timeout=10)  # type: ignore[no-any-return]

        stranger = ssl.create_default_context(cafile=files["ca.pem"])
        with pytest.raises((ssl.SSLError, OSError)):
            post(stranger)
        known = ssl.create_default_context(cafile=files["ca.pem"])
        known.load_cert_chain(files["client.pem"], files["client.key"])
        assert post(known) == 200
        read = {name: Path(path).read_bytes() for name, path in files.items()}
        with pytest.raises(grpc.RpcError):
            call(root_certificates=read["ca.pem"])
        own = {"private_key": read["client.key"], "certificate_chain": read["client.pem"]}
        assert call(root_certificates=read["ca.pem"], **own) == b""
        assert receiver.stop() == 0
    assert len(items(tmp_path / "out" / ATTEMPTS / "run-1" / "otel.jsonl")) == 1  # the same body twice is one


def test_python_without_the_fast_parts_serves_too(tmp_path: Path) -> None:
    """uvloop, httptools and isal are extras."""
    program = (
        "import sys\n"
        "for name in ('uvloop', 'httptools', 'isal'): sys.modules[name] = None\n"
        "from otel2traj.cli import main; main()"
    )
    from .running import Running

    receiver = Running(tmp_path, "--build-after", "-1", program=program)
    try:
        assert receiver.post(as_json(traces(span()))) == 200
        assert receiver.stop() == 0
    finally:
        receiver.close()
    router = Router(tmp_path)
    assert [row.id for row in router.state.attempts()] == [TRACE]
    router.close()


def test_showing_help_loads_no_server() -> None:
    check = (
        "import sys; from otel2traj.cli.app import COMMANDS; import otel2traj.cli.receive, otel2traj.api.receive\n"
        "bad = {'grpc', 'uvicorn', 'google.protobuf', 'opentelemetry'} & set(sys.modules)\n"
        "sys.exit(', '.join(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
