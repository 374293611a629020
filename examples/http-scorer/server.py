"""Serves a function as an HTTP scorer, with nothing but the standard library:

    SCORER_SECRET='the value of the secret' python3 server.py

Replace `score` below, or import `serve_scorer` into a program of your own.
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_S = 300
LABEL = b"tallytree http-scorer v1"
MAX_BYTES = 32 * 1024 * 1024


def score(arguments):
    """Gets the columns of the row, all of them as `inputs`, and the model's `output`.

    Returns any JSON value up to 16 KiB. A row may be posted twice, so that it should have no side effects.
    """
    return {"same": arguments.get("output") == arguments.get("expected")}


def is_number(text):
    return text.isascii() and text.isdigit() and len(text) < 15


def derived_key(secret):
    """HKDF-SHA256 without a salt, of 32 bytes."""
    key = base64.b64decode(secret[len("whsec_") :]) if secret.startswith("whsec_") else secret.encode()
    extracted = hmac.new(bytes(32), key, hashlib.sha256).digest()
    return hmac.new(extracted, LABEL + b"\x01", hashlib.sha256).digest()


def is_genuine(secret, headers, body):
    """As in Standard Webhooks, with a key that is derived from the secret.

    An old timestamp is refused, and any of the signatures may be the right one.
    """
    timestamp = headers.get("webhook-timestamp", "")
    if not is_number(timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        return False
    key = derived_key(secret)
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode("latin-1") + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode("latin-1").split(b" ")
    return any(hmac.compare_digest(b"v1," + digest, sent) for sent in signatures)


def handler_for(score, secret):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_POST(self):
            length = self.headers.get("content-length", "")
            if not (is_number(length) and int(length) <= MAX_BYTES):
                # The body is not read, so that no other request can follow it.
                self.close_connection = True
                return self.refuse(413, f"the body has no length, or is larger than {MAX_BYTES} bytes")
            body = self.rfile.read(int(length))
            if not is_genuine(secret, self.headers, body):
                return self.refuse(401, "the signature is not valid")
            try:
                answer = json.dumps({"score": score(json.loads(body)["arguments"])}, allow_nan=False)
            except Exception as error:
                # Not a 500: the same row would fail again.
                return self.refuse(422, f"{type(error).__name__}: {error}")
            self.answer(200, answer)

        def do_GET(self):
            self.refuse(405, "send a POST")

        def refuse(self, status, error):
            self.answer(status, json.dumps({"error": error}))

        def answer(self, status, text):
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def serve_scorer(score, secret, port=4800, host="127.0.0.1"):
    """Answers `{"score": …}` to signed requests, each in a thread of its own, and does not return."""
    ThreadingHTTPServer((host, port), handler_for(score, secret)).serve_forever()


if __name__ == "__main__":
    serve_scorer(
        score,
        os.environ["SCORER_SECRET"],
        port=int(os.environ.get("PORT", "4800")),
        host=os.environ.get("HOST", "127.0.0.1"),
    )
