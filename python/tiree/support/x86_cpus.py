"""The x86 CPUs that LLVM knows, and what each one has.

A line is `cpu: parent +added -removed`; a feature set is its parent's with the changes. llvmlite has no call that
answers this, so it is a table; `tests/codegen/llvm/test_cpu_target.py` compares the names with the installed LLVM.
"""

from __future__ import annotations

from functools import cache

CPUS = """
generic: generic
athlon-fx: generic +cx8 +fxsr +mmx +prfchw +sse +sse2 +x87
athlon64: athlon-fx
k8: athlon-fx
opteron: athlon-fx
x86-64: athlon-fx +cmov -prfchw
athlon64-sse3: athlon-fx +sse3
k8-sse3: athlon64-sse3
opteron-sse3: athlon64-sse3
nocona: x86-64 +cx16 +sse3
core2: nocona +sahf +ssse3
atom: core2 +movbe
bonnell: atom
penryn: core2 +sse4.1
amdfam10: athlon64-sse3 +cx16 +lzcnt +popcnt +sahf +sse4a
barcelona: amdfam10
btver1: amdfam10 +ssse3
corei7: penryn +crc32 +popcnt +sse4.2
nehalem: corei7
x86-64-v2: corei7
westmere: corei7 +pclmul
corei7-avx: westmere +avx +xsave +xsaveopt
sandybridge: corei7-avx
silvermont: westmere +movbe +prfchw +rdrnd
slm: silvermont
core-avx-i: corei7-avx +f16c +fsgsbase +rdrnd
ivybridge: core-avx-i
bdver1: corei7-avx +aes +fma4 +lwp +lzcnt +prfchw +sse4a +xop -cmov -xsaveopt
x86-64-v3: corei7 +avx +avx2 +bmi +bmi2 +f16c +fma +lzcnt +movbe +xsave
btver2: bdver1 +bmi +f16c +movbe +xsaveopt -fma4 -lwp -xop
bdver2: bdver1 +bmi +f16c +fma +tbm
goldmont: core-avx-i +aes +clflushopt +movbe +prfchw +rdseed +sha +xsavec +xsaves -avx -f16c
core-avx2: x86-64-v3 +fsgsbase +invpcid +pclmul +rdrnd +xsaveopt
haswell: core-avx2
x86-64-v4: x86-64-v3 +avx512bw +avx512cd +avx512dq +avx512f +avx512vl
bdver3: bdver2 +fsgsbase +xsaveopt
goldmont-plus: goldmont +ptwrite +rdpid +sgx
broadwell: core-avx2 +adx +prfchw +rdseed
tremont: goldmont-plus +clwb +gfni
bdver4: bdver3 +avx2 +bmi2 +movbe +mwaitx +rdrnd
knl: broadwell +aes +avx512cd +avx512f
knm: knl +avx512vpopcntdq
skylake: broadwell +aes +clflushopt +sgx +xsavec +xsaves
znver1: skylake +clzero +mwaitx +sha +sse4a -cmov -invpcid -sgx
znver2: znver1 +clwb +rdpid +rdpru +wbnoinvd
skx: skylake +avx512bw +avx512cd +avx512dq +avx512f +avx512vl +clwb +pku -sgx
skylake-avx512: skx
cascadelake: skx +avx512vnni
cooperlake: cascadelake +avx512bf16
cannonlake: skx +avx512ifma +avx512vbmi +sgx +sha -clwb
znver3: znver2 +invpcid +pku +vaes +vpclmulqdq
rocketlake: cannonlake +avx512bitalg +avx512vbmi2 +avx512vnni +avx512vpopcntdq +gfni +rdpid +vaes +vpclmulqdq -sgx
icelake-client: rocketlake +sgx
alderlake: skylake +avxvnni +clwb +gfni +hreset +kl +movdir64b +movdiri +pconfig +pku +ptwrite +rdpid +serialize
    +sha +shstk +vaes +vpclmulqdq +waitpkg +widekl
gracemont: alderlake
meteorlake: alderlake
raptorlake: alderlake
icelake-server: icelake-client +clwb +pconfig +wbnoinvd
znver4: icelake-server +avx512bf16 +clzero +mwaitx +rdpru +shstk +sse4a -cmov -pconfig -sgx
arrowlake: alderlake +avxifma +avxneconvert +avxvnniint8 +cmpccxadd +enqcmd +uintr
tigerlake: icelake-client +avx512vp2intersect +clwb +kl +movdir64b +movdiri +shstk +widekl
grandridge: arrowlake +cldemote
sierraforest: grandridge
pantherlake: arrowlake +avxvnniint16 +sha512 +sm3 +sm4 -kl -widekl
wildcatlake: pantherlake
arrowlake-s: pantherlake +kl +widekl
lunarlake: arrowlake-s
znver5: znver4 +avx512vp2intersect +avxvnni +movdir64b +movdiri +prefetchi
clearwaterforest: pantherlake +cldemote +prefetchi +usermsr
emeraldrapids: icelake-server +amx-bf16 +amx-int8 +amx-tile +avx512bf16 +avx512fp16 +avxvnni +cldemote +enqcmd
    +movdir64b +movdiri +ptwrite +serialize +shstk +tsxldtrk +uintr +waitpkg
sapphirerapids: emeraldrapids
graniterapids: emeraldrapids +amx-fp16 +prefetchi
graniterapids-d: graniterapids +amx-complex
novalake: graniterapids +avx10.1 +avx10.2 +avxifma +avxneconvert +avxvnniint16 +avxvnniint8 +ccmp +cmpccxadd +egpr
    +hreset +movrs +ndd +nf +ppx +push2pop2 +sha512 +sm3 +sm4 +zu -amx-bf16 -amx-fp16 -amx-int8 -amx-tile -cldemote
    -tsxldtrk -wbnoinvd
diamondrapids: novalake +amx-avx512 +amx-bf16 +amx-complex +amx-fp16 +amx-fp8 +amx-int8 +amx-movrs +amx-tile
    +cldemote +tsxldtrk +wbnoinvd -hreset
"""

FEATURES = """
16bit-mode 32bit-mode 64bit 64bit-mode adx aes allow-light-256-bit amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8
amx-int8 amx-movrs amx-tf32 amx-tile avx avx10.1 avx10.1-512 avx10.2 avx10.2-512 avx2 avx512bf16 avx512bitalg avx512bw
avx512cd avx512dq avx512f avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vp2intersect
avx512vpopcntdq avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 branch-hint branchfusion ccmp cf
cldemote clflushopt clwb clzero cmov cmpccxadd crc32 cx16 cx8 egpr enqcmd ermsb evex512 f16c false-deps-getmant
false-deps-lzcnt-tzcnt false-deps-mulc false-deps-mullq false-deps-perm false-deps-popcnt false-deps-range
fast-11bytenop fast-15bytenop fast-7bytenop fast-bextr fast-dpwssd fast-gather fast-hops fast-imm16 fast-lzcnt
fast-movbe fast-scalar-fsqrt fast-scalar-shift-masks fast-shld-rotate fast-variable-crosslane-shuffle
fast-variable-perlane-shuffle fast-vector-fsqrt fast-vector-shift-masks faster-shift-than-shuffle fma fma4 fsgsbase
fsrm fxsr gfni harden-sls-ijmp harden-sls-ret hreset idivl-to-divb idivq-to-divl inline-asm-use-gpr32 invpcid kl
lea-sp lea-uses-ag lvi-cfi lvi-load-hardening lwp lzcnt macrofusion mmx movbe movdir64b movdiri movrs mwaitx ndd nf
no-bypass-delay no-bypass-delay-blend no-bypass-delay-mov no-bypass-delay-shuffle nopl pad-short-functions pclmul
pconfig pku popcnt ppx prefer-128-bit prefer-256-bit prefer-legacy-setcc prefer-mask-registers
prefer-movmsk-over-vtest prefer-no-gather prefer-no-scatter prefetchi prfchw ptwrite push2pop2 raoint rdpid rdpru
rdrnd rdseed retpoline retpoline-external-thunk retpoline-indirect-branches retpoline-indirect-calls rtm sahf
sbb-dep-breaking serialize seses sgx sha sha512 shstk slow-3ops-lea slow-incdec slow-lea slow-pmaddwd slow-pmulld
slow-pmullq slow-shld slow-two-mem-ops slow-unaligned-mem-16 slow-unaligned-mem-32 sm3 sm4 soft-float sse
sse-unaligned-mem sse2 sse3 sse4.1 sse4.2 sse4a ssse3 tagged-globals tbm tsxldtrk tuning-fast-imm-vector-shift uintr
use-glm-div-sqrt-costs use-slm-arith-costs usermsr vaes vpclmulqdq vzeroupper waitpkg wbnoinvd widekl x32 x87 xop
xsave xsavec xsaveopt xsaves zu
"""


@cache
def x86_cpu_features() -> dict[str, frozenset[str]]:
    """CPU name -> names of its features."""
    table: dict[str, frozenset[str]] = {"generic": frozenset()}
    for line in CPUS.replace("\n    ", " ").strip().splitlines():
        name, _, rest = line.partition(": ")
        parent, *changes = rest.split()
        features = set(table[parent])
        for change in changes:
            (features.add if change[0] == "+" else features.discard)(change[1:])
        table[name] = frozenset(features)
    return table


@cache
def x86_feature_names() -> frozenset[str]:
    """Every feature name of LLVM's x86 target."""
    return frozenset(FEATURES.split())
