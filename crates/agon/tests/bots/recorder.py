"""Runs another player and records both directions. Usage: recorder.py FILE COMMAND ARGS…"""

import subprocess
import sys
import threading


def main():
    record = open(sys.argv[1], "w", encoding="utf-8")
    player = subprocess.Popen(
        sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )

    def answers():
        for line in player.stdout:
            record.write("< " + line)
            record.flush()
            print(line, end="", flush=True)

    reader = threading.Thread(target=answers)
    reader.start()
    for line in sys.stdin:
        record.write("> " + line)
        record.flush()
        try:
            player.stdin.write(line)
        except BrokenPipeError:
            break
    try:
        player.stdin.close()
    except BrokenPipeError:
        pass
    reader.join()


main()
