# What the linker made of the program: each protection is there, and no path of the building machine. And the systemd units.
. "$(dirname "$0")/lib.sh"

command -v readelf >/dev/null || skip "readelf (binutils) is not installed"
for binary in "$TRIBUTARY" "$(find "$BUILD" -name 'libtributary.so.*.*' -type f | head -1)"; do
  [ -n "$binary" ] || continue
  LC_ALL=C readelf -WhldsV "$binary" >elf.txt
  has() { grep -qE -- "$1" elf.txt || fail "$binary: $2"; }
  has 'Type: +DYN' 'not position-independent (PIE)'
  has '^ +GNU_RELRO ' 'no RELRO segment (-Wl,-z,relro)'
  has 'FLAGS.*NOW' 'symbols are bound late: RELRO is partial (-Wl,-z,now)'
  has '^ +GNU_STACK .* RW +0x' 'its stack is executable'
  has '__stack_chk_fail@' 'no stack protector (-fstack-protector-strong)'
  has '_chk@GLIBC' 'no checked calls of the C library (-D_FORTIFY_SOURCE=2)'
  LC_ALL=C grep -aoF "$SOURCE/" "$binary" >paths.txt && fail "$binary holds $(wc -l <paths.txt) paths below $SOURCE"
done
# So that the checks above are known to find what is missing.
if command -v cc >/dev/null; then
  echo 'int main(void) { return 0; }' >plain.c
  cc -no-pie -fno-stack-protector -Wl,-z,norelro -Wl,-z,lazy plain.c -o plain
  LC_ALL=C readelf -WhldsV plain >elf.txt
  for words in 'Type: +DYN' '^ +GNU_RELRO ' 'FLAGS.*NOW' '__stack_chk_fail@' '_chk@GLIBC'; do
    grep -qE -- "$words" elf.txt && fail "'$words' is found in a program without protection"
  done
fi

units=$SOURCE/packaging/systemd
for unit in "$units"/*.service; do
  for line in UMask=0077 NoNewPrivileges=true ProtectSystem=strict CapabilityBoundingSet= SystemCallFilter=@system-service; do
    grep -qxF "$line" "$unit" || fail "$unit has no $line"
  done
done
if command -v systemd-analyze >/dev/null; then
  for unit in "$units"/*.service; do sed 's|/usr/local/bin/tributary |/bin/true |' "$unit" >"$(basename "$unit")"; done
  systemd-analyze verify ./*.service >out.txt 2>&1 || fail "systemd refuses a unit: $(cat out.txt)"
  grep -E 'tributary-(coordinator|device).service' out.txt && fail "systemd complains about a unit"
fi
true
