"""A server for the test of downloads, with ranges and every kind of trouble: fetch_server.py serve | requests LOG."""

import http.server
import os
import re
import socketserver
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, code, headers, body=b""):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        asked = self.headers.get("Range", "-")
        print("REQUEST", self.path, asked, file=sys.stderr, flush=True)
        parts = self.path.strip("/").split("/")
        trouble, name = (parts[0], parts[-1]) if len(parts) > 1 else ("", parts[0])
        path = os.path.join("mirror", name) if trouble == "mirror" else name
        here = "http://127.0.0.1:%d" % self.server.server_address[1]
        if trouble == "redirect":
            left = int(parts[1])
            to = "/%s" % name if left == 1 else "/redirect/%d/%s" % (left - 1, name)
            return self.answer(302, [("Location", here + to), ("Content-Length", "0")])
        if trouble == "away":
            return self.answer(302, [("Location", "file://%s" % os.path.abspath(name)), ("Content-Length", "0")])
        if trouble == "busy":
            return self.answer(503, [("Content-Length", "0")])
        if not os.path.isfile(path):
            return self.answer(404, [("Content-Length", "0")])
        body = open(path, "rb").read()
        if trouble == "endless":  # without a length
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                while True:
                    self.wfile.write(body)
            except OSError:
                return
        found = re.fullmatch(r"bytes=(\d+)-", asked)
        if found and trouble != "plain":
            first = int(found.group(1))
            if first >= len(body):
                return self.answer(416, [("Content-Range", "bytes */%d" % len(body)), ("Content-Length", "0")])
            headers = [("Content-Range", "bytes %d-%d/%d" % (first, len(body) - 1, len(body))),
                       ("Content-Length", str(len(body) - first))]
            return self.answer(206, headers, body[first:])
        if trouble == "broken":
            self.answer(200, [("Content-Length", str(len(body)))], body[:1000000])
            self.close_connection = True
            return
        if trouble == "slow":
            self.answer(200, [("Content-Length", str(len(body)))])
            try:
                for first in range(0, len(body), 20000):
                    self.wfile.write(body[first : first + 20000])
                    self.wfile.flush()
                    time.sleep(0.01)
            except OSError:
                self.close_connection = True
            return
        self.answer(200, [("Content-Length", str(len(body)))], body)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


if sys.argv[1] == "serve":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    sys.stdout.writelines(line for line in open(sys.argv[2]) if line.startswith("REQUEST"))
