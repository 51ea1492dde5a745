#!/usr/bin/env bash
# Clones the committed state into an empty folder, with empty caches for npm and pnpm, and runs there what a newcomer
# runs: `npm start` and `npm test`. Prints the times. Run before a release: bash tools/fresh-clone.sh
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

if [[ -n "$(git -C "$root" status --porcelain)" ]]; then
  echo "fresh-clone: there are uncommitted changes; only what is committed is tried"
fi
git clone --quiet --no-local "$root" "$work/moraine"
cd "$work/moraine"

# Settings of the npm that may have started this script must not reach the one under test; the user's own .npmrc may.
while IFS= read -r name; do unset "$name"; done < <(env | sed -n 's/^\(npm_[A-Za-z0-9_]*\)=.*/\1/p')
export npm_config_cache="$work/npm-cache"
export XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache" XDG_STATE_HOME="$work/state"
unset PNPM_HOME || true

timed() {
  local started="$SECONDS" status=0
  "$@" < /dev/null || status=$?
  times+=("$(printf '%5d s  %s%s' $((SECONDS - started)) "$*" "$([[ $status == 0 ]] || echo "  (exit code $status)")")")
  if [[ $status != 0 ]]; then failed=1; fi
}

times=()
failed=0
timed npm start
timed npm test
timed npm run setup
echo "fresh-clone:"
printf '%s\n' "${times[@]}"
exit "$failed"
