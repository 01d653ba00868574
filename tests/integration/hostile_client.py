"""Clients that a coordinator has to survive. They limit themselves in number and time.

hostile_client.py connections PORT SECONDS ADDRESSES RAW HANDSHAKES
    holds RAW connections that say nothing and HANDSHAKES that begin a TLS handshake and do not finish it, from so many
    addresses of this machine, and dials again for those that are closed. Prints how many were dialled and closed so far.
hostile_client.py headers PORT BUNDLE MEGABYTES
    joins with a device's keys, and then sends one header of that size in CONTINUATION frames. Prints how many bytes were
    sent, or why it was refused.
"""
import resource, select, socket, ssl, sys, time

MOST_DIALS_PER_SECOND = 2000
MOST_DIALS_PER_CONNECTION = 10
HALF_A_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100)


def connections(port, seconds, addresses, raw, handshakes):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    wanted = {False: raw, True: handshakes}  # whether it begins a handshake -> how many
    held = {}  # descriptor -> (socket, whether it begins a handshake)
    poll = select.epoll()
    dialled = closed = 0
    begin = time.monotonic()
    while (now := time.monotonic() - begin) < seconds:
        most = min(int(now * MOST_DIALS_PER_SECOND) + 100, MOST_DIALS_PER_CONNECTION * (raw + handshakes))
        for shakes in wanted:
            while wanted[shakes] > 0 and dialled < most:
                one = socket.socket()
                one.setblocking(False)
                one.bind((f"127.0.1.{1 + dialled % addresses}", 0))
                one.connect_ex(("127.0.0.1", port))
                held[one.fileno()] = one, shakes
                poll.register(one, select.EPOLLIN | (select.EPOLLOUT if shakes else 0))
                wanted[shakes] -= 1
                dialled += 1
        for descriptor, event in poll.poll(0.02):
            one, shakes = held[descriptor]
            if event == select.EPOLLOUT:
                one.send(HALF_A_HELLO)
                poll.modify(one, select.EPOLLIN)
                continue
            poll.unregister(one)
            one.close()
            del held[descriptor]
            wanted[shakes] += 1
            closed += 1
        print(dialled, closed, flush=True)


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def literal(name, value):
    return bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def hpack_integer(value, prefix):
    most = (1 << prefix) - 1
    if value < most:
        return bytes([value])
    text, value = bytes([most]), value - most
    while value >= 128:
        text, value = text + bytes([value % 128 + 128]), value // 128
    return text + bytes([value])


def headers(port, bundle, megabytes):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(f"{bundle}/cert.pem", f"{bundle}/key.pem")
    context.set_alpn_protocols(["h2"])
    call = b"".join(literal(*pair) for pair in [
        (":method", "POST"), (":scheme", "https"), (":path", "/tributary.v1.Fleet/Join"), (":authority", "x"),
        ("content-type", "application/grpc"), ("te", "trailers")])
    greeting = bytes([0x0A, 2, 0x08, 1])  # FromDevice{greeting{protocol 1}}
    sent = 0
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port), 60)) as stream:
        stream.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, call)
                       + frame(0, 0, 1, bytes(1) + len(greeting).to_bytes(4, "big") + greeting))
        heard = b""
        while b"schema = 1" not in heard:  # the experiment, in the welcome
            more = stream.recv(65536)
            heard += more
            if not more or b"refused" in heard:
                return print("refused" if b"refused for a minute" in heard else "closed", flush=True)
        value = megabytes * 1_000_000
        try:
            stream.sendall(frame(1, 0, 3, call + bytes([0, 1]) + b"x" + hpack_integer(value, 7)))
            while sent < value:
                stream.sendall(frame(9, 0, 3, bytes(16384)))
                sent += 16384
            stream.sendall(frame(9, 4, 3, b""))
            while stream.recv(65536):
                pass
        except OSError:
            pass
    print("sent", sent, flush=True)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "connections":
        connections(*(int(argument) for argument in arguments))
    else:
        headers(int(arguments[0]), arguments[1], int(arguments[2]))
