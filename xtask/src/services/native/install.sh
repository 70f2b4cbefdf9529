# Installs Debian packages and lets none of them start a server, now or at the
# next start of the machine. Run by root with the names of the packages.
set -eu
export DEBIAN_FRONTEND=noninteractive

# The door that every package asks before it starts a server; 101 means no:
# https://www.debian.org/doc/debian-policy/ch-opersys.html#invoke-rc-d
policy=/usr/sbin/policy-rc.d
mark='Put here by cargo xtask up, which removes it.'
# The packages of PostgreSQL make a system-wide cluster unless told otherwise:
# pg_createcluster(1), create_main_cluster.
clusters=/etc/postgresql-common/createcluster.d
no_cluster="$clusters/lockwork.conf"

undo() {
    if grep -qsF "$mark" "$policy"; then rm -f "$policy"; fi
    rm -f "$no_cluster"
    rmdir --ignore-fail-on-non-empty "$clusters" "${clusters%/*}"
}
trap undo EXIT
trap 'exit 1' HUP INT TERM

mkdir -p "$clusters"
echo 'create_main_cluster = false' >"$no_cluster"
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\n# %s\nexit 101\n' "$mark" >"$policy"
    chmod 755 "$policy"
fi

apt() {
    timeout --kill-after=30 600 apt-get -q -y \
        -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@"
}

# The lists may be missing or old; only then are they fetched.
apt install --no-install-recommends "$@" || {
    apt update
    apt install --no-install-recommends "$@"
}

for package in "$@"; do
    # PostgreSQL without a cluster starts nothing.
    case "$package" in
    pgbouncer | redis-server) update-rc.d "$package" disable ;;
    esac
done
