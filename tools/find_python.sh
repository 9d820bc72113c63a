# Prints the first Python on the path that is 3.11 or newer, else `python3`, so that the check that
# follows can say what was found. Plain sh.
for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        echo "$name"
        exit 0
    fi
done
echo python3
