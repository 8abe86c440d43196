"""`--proxy`: mitmdump, for programs that honour HTTPS_PROXY alone. It opens TLS and hands over to our own proxy."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import certifi

from ..errors import UsageError

_PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
_TRUST: Final = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
)
_START_SECONDS: Final = 30
_SCRIPT: Final = Path(__file__).with_name("redirect.py")


def find_mitmdump() -> str:
    """The program beside this Python, or on the PATH. Raises `UsageError` where there is none."""
    beside = Path(sys.executable).with_name("mitmdump")
    program = str(beside) if beside.exists() else shutil.which("mitmdump")
    if program is None:
        raise UsageError("--proxy needs mitmproxy", hint="pipx install mitmproxy, or pip install 'otel2traj[proxy]'")
    return program


class Intercept:
    """Started when it is made. `env` leads a command through it; its certificate authority is made for this run, known
    to that command alone, and gone when it is closed. Raises `UsageError` where `program` does not start."""

    def __init__(self, program: str, port: int, token: str, env: Mapping[str, str]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="otel2traj-proxy-"))
        ready = self._folder / "port"
        settings = {
            "OTEL2TRAJ_RECORD_PORT": str(port),
            "OTEL2TRAJ_RECORD_TOKEN": token,
            "OTEL2TRAJ_RECORD_READY": str(ready),
        }
        command = [program, "--quiet", "--mode", "regular@127.0.0.1:0", "--scripts", str(_SCRIPT)]
        for option in (f"confdir={self._folder}", "connection_strategy=lazy", "upstream_cert=false"):
            command += ["--set", option]
        try:
            # a group of its own: the terminal's SIGINT is for the command
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **settings},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as err:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise UsageError(f"{program}: {err.strerror}") from err
        until = time.monotonic() + _START_SECONDS
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > until:
                self.close()
                raise UsageError(f"{program} did not start", hint="see what `mitmdump --version` says")
            time.sleep(0.02)
        url = f"http://127.0.0.1:{ready.read_text('ascii')}"
        bundle = self._folder / "trusted.pem"
        bundle.write_bytes(b"\n".join([*_trusted(env), (self._folder / "mitmproxy-ca-cert.pem").read_bytes()]))
        self.env = {**dict.fromkeys(_PROXIES, url), **dict.fromkeys(_TRUST, str(bundle))}
        if "NODE_USE_ENV_PROXY" not in env:
            self.env["NODE_USE_ENV_PROXY"] = "1"

    def close(self) -> None:
        """Stop it, and remove the authority with its key."""
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _trusted(env: Mapping[str, str]) -> list[bytes]:
    """The roots that the command trusts without us: those it was given, and the system's."""
    named = {env[name] for name in _TRUST if env.get(name)}
    system = ssl.get_default_verify_paths().cafile
    files = [*sorted(named), system if system is not None else certifi.where()]
    return [Path(file).read_bytes() for file in files if Path(file).is_file()]
