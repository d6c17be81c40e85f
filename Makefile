# verify changes nothing, fix does; test is the README's test command.

.PHONY: test verify fix bench deny sim sim-selftest

test:
	scripts/test

verify:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- --deny warnings

fix:
	cargo fmt --all
	cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged

bench:
	scripts/bench

deny:
	cargo deny check

# make mutants SAMPLE=300 SEED=1: changes games and core in so many ways, lists what no test notices.
.PHONY: mutants
mutants:
	SAMPLE=$(SAMPLE) SEED=$(SEED) scripts/mutants

# make sim SEED=7 shows one run step by step, make sim SEEDS=100000 runs that many.
sim:
	cargo run --quiet --package agon-sim --profile sim -- $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1000))

# Plants bugs one at a time, and sees that each is found.
sim-selftest:
	cargo run --quiet --package agon-sim --profile sim -- --selftest
