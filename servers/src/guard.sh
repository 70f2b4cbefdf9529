# Ends the servers of a test process that has ended, and removes what they
# left. Its standard input is a pipe that the test process alone holds open.
cat >/dev/null

# Sends signals to what works in the directory; fails when nothing does.
tell() {
    found=1
    for place in /proc/[0-9]*/cwd; do
        case "$(readlink "$place")" in
        "$home"/*)
            process=${place#/proc/}
            process=${process%/cwd}
            for signal; do kill -s "$signal" "$process"; done
            found=0
            ;;
        esac
    done
    return "$found"
}

home=$1
# Asked to quit, PostgreSQL takes its shared memory with it. One that is
# stopped does not hear before it goes on.
rounds=0
while [ "$rounds" -lt 20 ] && tell QUIT TERM CONT; do
    rounds=$((rounds + 1))
    sleep 0.1
done
while tell KILL; do sleep 0.1; done
for note in "$home"/namespaces/*; do
    [ -e "$note" ] && ip netns delete "${note##*/}"
done
rm -rf -- "$home"
