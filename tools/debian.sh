#!/usr/bin/env bash
# Unpacks packages of Debian's archive into a folder of their own, whatever release this machine
# has, and changes nothing else: debian.sh FOLDER SUITE[,SUITE...] PACKAGE... [-- PACKAGE...]
# What a package depends on comes with it, except for those after `--`. A name may have a `*`: the
# newest of those that it fits. A folder that is there already is left as it is.
set -euo pipefail

if [ $# -lt 3 ]; then
    echo "usage: debian.sh FOLDER SUITE[,SUITE...] PACKAGE... [-- PACKAGE...]" >&2
    exit 2
fi
folder=$(realpath -m "$1") suites=$2
shift 2
[ ! -d "$folder" ] || exit 0
fail() { echo "debian: $*" >&2; exit 2; }
for tool in apt-get apt-cache dpkg-deb; do
    command -v "$tool" >/dev/null || fail "packages of Debian cannot be fetched without $tool"
done

# The archive is the one that this machine has its own packages from.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
site=$(apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(ORIGIN) $(REPO_URI)' | awk '$1 == "Packages" && $2 == "main" && $3 == "Debian" && !/security/ { print $4; exit }')
[ -n "$site" ] && [ -e "$keyring" ] || fail "this machine has no sources of Debian's packages to take $suites from"
part="$folder.part"
trap 'rm -rf "$part"' EXIT
rm -rf "$part" && mkdir -p "$part/root" "$part/lists/partial" "$part/cache/archives/partial"
: >"$part/status"
for suite in ${suites//,/ }; do echo "deb [signed-by=$keyring] $site $suite main"; done >"$part/sources.list"
own=(-qq -o "Dir::Etc::SourceList=$part/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$part/lists"
    -o "Dir::State::Status=$part/status" -o "Dir::Cache=$part/cache" -o Debug::NoLocking=true -o APT::Sandbox::User=)
log="$part/log"
said() { grep '^E: ' "$log" | head -1; }
apt-get "${own[@]}" update >"$log" 2>&1 || fail "the list of $suites cannot be fetched: $(said)"

names=$(apt-cache "${own[@]}" pkgnames)
with=() alone=() is_alone=
for wanted in "$@"; do
    if [ "$wanted" = -- ]; then
        is_alone=1
        continue
    fi
    name=$(while read -r name; do if [[ $name == $wanted ]]; then echo "$name"; fi; done <<<"$names" | sort -V | tail -1)
    [ -n "$name" ] || fail "$wanted is not, or no longer, in $suites of Debian's archive"
    if [ -n "$is_alone" ]; then alone+=("$name"); else with+=("$name"); fi
done
cd "$part/cache/archives"
apt-get "${own[@]}" -y --no-install-recommends --download-only install "${with[@]}" >"$log" 2>&1 &&
    { [ ${#alone[@]} = 0 ] || apt-get "${own[@]}" download "${alone[@]}" >"$log" 2>&1; } ||
    fail "${with[*]} ${alone[*]} cannot be fetched: $(said)"
for package in *.deb; do dpkg-deb -x "$package" "$part/root"; done
mv "$part/root" "$folder"
