"""A player that attacks the run it plays in, and then plays on as if nothing had happened.

Usage: hostile.py MODE [ARGUMENT], and a word that marks the process for the tests. Every attack
says on stderr what came of it. Attacks that could hurt a machine stop by themselves.
"""

import ctypes
import hashlib
import os
import re
import resource
import signal
import socket
import sys
import time

import misbehave

HELLO = {}
CHILDREN = []
BURNT = {"paused_at": None, "spent": 0.0, "waited": 0.0}


def note(words):
    print(f"ATTACK {words}", file=sys.stderr, flush=True)


def is_secret(text):
    data = bytes.fromhex(text)
    return hashlib.sha256(b"agon commit 1\n" + data).hexdigest() == HELLO["commitment"]


def files():
    """All files that could hold the secret: those of the run, and everything near it."""
    for top in [os.environ["AGON_RUN"], os.getcwd(), "/tmp", os.path.expanduser("~")]:
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith(".")][:100]
            for name in names[:200]:
                yield os.path.join(folder, name)


def read_secret(_):
    found = opened = 0
    for path in files():
        try:
            with open(path, "rb") as file:
                text = file.read(1_000_000).decode("latin-1")
        except OSError:
            continue
        opened += path.startswith(os.environ["AGON_RUN"])
        found += sum(is_secret(word) for word in set(re.findall(r"\b[0-9a-f]{64}\b", text)))
    note(f"read-secret: {found} secrets found, {opened} files of the run opened")


def grind(_):
    """Tries to replace the nonce now that the game's commitment is known."""
    misbehave.say({"type": "hello", "protocol": 1, "name": "hostile", "nonce": "cd" * 32})
    note("grind: another nonce sent")


def others():
    """The processes this one can see, without itself and its own parents."""
    own, parent = set(), os.getpid()
    while parent > 1:
        own.add(parent)
        with open(f"/proc/{parent}/stat") as file:
            parent = int(file.read().rsplit(") ", 1)[1].split()[1])
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own and int(name) > 1:
            yield int(name)


def kill(word):
    """Kills the opponent: every process with a certain word among its arguments."""
    killed = 0
    for number in others():
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                if word.encode() in file.read().split(b"\0"):
                    os.kill(number, signal.SIGKILL)
                    killed += 1
        except OSError:
            pass
    note(f"kill: {killed} killed")


def attach(_):
    """Attaches to the referee, or reads its memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    attached = 0
    for number in others():
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if b"run" not in words or not words[0].endswith(b"agon"):
                continue
            with open(f"/proc/{number}/mem", "rb"):
                attached += 1
        except OSError:
            pass
        attached += libc.ptrace(16, number, 0, 0) == 0
    note(f"attach: {attached} attached")


def fork(_):
    """Starts processes, but never more than 600."""
    children = []
    try:
        for _ in range(600):
            child = os.fork()
            if child == 0:
                time.sleep(20)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    note(f"fork: {'all' if len(children) == 600 else 'limited'}")
    for child in children:
        os.kill(child, signal.SIGKILL)
    os._exit(3)


def memory(_):
    """Takes memory, but never more than 300 MB."""
    pieces = []
    note("memory: begins")
    for _ in range(60):
        pieces.append(b"x" * 5_000_000)
    note("memory: 300 MB taken")


def spin(_):
    """Uses processor time, but never more than 20 s."""
    note("spin: begins")
    while time.process_time() < 20:
        pass
    note("spin: 20 s used")


def disk(_):
    """Writes wherever it can, but never more than 200 MB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    written = 0
    own = [os.getcwd(), os.path.dirname(__file__), os.path.expanduser("~")]
    for folder in own + ["/", "/var", "/dev"]:
        try:
            with open(os.path.join(folder, "hostile.tmp"), "w") as file:
                file.write("x")
            os.unlink(os.path.join(folder, "hostile.tmp"))
            written += 1
        except OSError:
            pass
    note(f"disk: {written} folders written to")
    with open("/tmp/hostile.tmp", "wb") as file:
        for _ in range(200):
            file.write(b"x" * 1_000_000)
            file.flush()
    note("disk: 200 MB written")


def network(port):
    reached = 0
    for address in [("127.0.0.1", int(port)), ("1.1.1.1", 53)]:
        try:
            socket.create_connection(address, timeout=1).close()
            reached += 1
        except OSError:
            pass
    note(f"network: {reached} reached")


def burn(_):
    """Keeps two processors busy, for a minute at most."""
    for _ in range(2):
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            while True:
                pass
        CHILDREN.append(child)


def spent():
    """Seconds of processor time of the children."""
    total = 0
    for child in CHILDREN:
        with open(f"/proc/{child}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def survive(word):
    """Leaves a process behind, in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sh", ["sh", "-c", "sleep 30; true", word])
        os._exit(0)
    note("survive: left")


ATTACKS = {
    "read-secret": read_secret,
    "grind": grind,
    "kill": kill,
    "attach": attach,
    "fork": fork,
    "memory": memory,
    "disk": disk,
    "spin": spin,
    "network": network,
    "burn": burn,
    "survive": survive,
}


def before_answer(mode, argument, count):
    if mode in ATTACKS and (count == 2 or (mode == "kill" and count > 2)):
        ATTACKS[mode](argument)
    if mode == "wait" and count == 2:
        # For whoever kills it meanwhile; it gives up by itself.
        for _ in range(6000):
            if os.path.exists(argument):
                break
            time.sleep(0.01)
    if mode == "think":
        time.sleep(float(argument))
    if mode == "burn" and count > 2:
        BURNT["waited"] += time.monotonic() - BURNT["paused_at"][0]
        BURNT["spent"] += spent() - BURNT["paused_at"][1]
        note(f"burn: {BURNT['spent']:.2f} s burnt in {BURNT['waited']:.2f} s")


def main():
    mode, argument = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    game, player, count = None, None, 0
    for line in sys.stdin:
        message = misbehave.json.loads(line)
        if message["type"] == "hello":
            HELLO.update(message)
            game, player = message["game"], message["player"]
            misbehave.say({"type": "hello", "protocol": 1, "name": "hostile", "nonce": "ab" * 32})
        elif message["type"] == "request":
            before_answer(mode, argument, count)
            answer = misbehave.good(game, player, message)
            if mode == "burn" and count >= 2:
                BURNT["paused_at"] = (time.monotonic(), spent())
            misbehave.say({"type": "answer", "id": message["id"], "answer": answer})
            count += 1
    for child in CHILDREN:
        os.kill(child, signal.SIGKILL)


main()
