from __future__ import annotations
import argparse, json, random, re, sys
from dataclasses import asdict
from collections import Counter
from tiree.testing.conformance.jax_harnesses import JaxHarnesses
from tiree.testing.conformance.workers import judge_all, serve

SUITES = {"jax32": lambda a: JaxHarnesses(False), "jax64": lambda a: JaxHarnesses(True)}

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--suite"); p.add_argument("--worker", action="store_true")
    p.add_argument("--sample", type=int); p.add_argument("--seed", type=int, default=0)
    p.add_argument("--filter"); p.add_argument("--json"); p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--timeout", type=float, default=60)
    p.add_argument("--list")
    a = p.parse_args()
    suite = SUITES[a.suite](a)
    if suite.missing(): print(suite.missing()); return 1
    if a.worker: serve(suite); return 0
    cases = suite.cases()
    if a.filter: cases = [c for c in cases if re.search(a.filter, c.name)]
    if a.list:
        names = set(open(a.list).read().split("\n")); cases = [c for c in cases if c.name in names]
    if a.sample and a.sample < len(cases):
        pick = set(random.Random(a.seed).sample(range(len(cases)), a.sample))
        cases = [c for i, c in enumerate(cases) if i in pick]
    n = Counter()
    out = open(a.json + ".log", "w") if a.json else sys.stdout
    def tell(v):
        n[v.status] += 1
        if v.status != "pass": print(v.status, v.name[:100], v.seconds, v.detail[:200], file=out, flush=True)
    vs = judge_all(["--worker", "--suite", a.suite], cases, a.jobs, a.timeout, tell)
    print(len(vs), n)
    if a.json: json.dump([asdict(v) for v in vs], open(a.json, "w"), indent=0)
    return 0
