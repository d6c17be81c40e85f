# verify changes nothing, fix does; test is the README's test command.

.PHONY: test verify fix bench deny sim sim-selftest kills chaos drill attack fuzz mutants

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
	scripts/deny

# make mutants SAMPLE=300 SEED=1: changes games and core in so many ways, lists what no test notices.
mutants:
	SAMPLE=$(SAMPLE) SEED=$(SEED) scripts/mutants

# make sim SEED=7 shows one run step by step, make sim SEEDS=100000 runs that many.
sim:
	cargo run --quiet --package agon-sim --profile sim -- $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1000))

# Plants bugs one at a time, and sees that each is found.
sim-selftest:
	cargo run --quiet --package agon-sim --profile sim -- --selftest

# make kills KILLS=500 kills the real server that often right after cheats: no blacklisting may be lost.
kills:
	AGON_TEST_KILLS=$(or $(KILLS),500) cargo test --quiet --package agon --test server -- --nocapture \
		blacklist::a_server_that_is_killed_right_after_a_cheat_lists_the_cheater_when_it_is_back

# make chaos MINUTES=60 PLAYERS=100 SEED=7: the real binary under kills, stops and a bad network.
# NODES=3: three nodes over PostgreSQL and NATS, which are also cut off, while both are restarted.
chaos:
	cargo build --quiet --profile sim --package agon --package agon-chaos
	target/sim/agon-chaos --agon target/sim/agon --minutes $(or $(MINUTES),5) --players $(or $(PLAYERS),24) \
		--nodes $(or $(NODES),1) --seed $(or $(SEED),1) $(if $(JSON),--json $(JSON)) $(if $(DIR),--dir $(DIR))

# make drill MATCHES=1000 NODES=3: every fault of nodes once, and how long it keeps so many matches waiting.
drill:
	cargo build --quiet --profile sim --package agon --package agon-chaos
	target/sim/agon-chaos --agon target/sim/agon --drill $(or $(MATCHES),100) --nodes $(or $(NODES),3) \
		--seed $(or $(SEED),1) $(if $(JSON),--json $(JSON)) $(if $(DIR),--dir $(DIR))

# make attack SECONDS=60: readers of a large replay and slow bodies beside 100 honest players.
attack:
	AGON_ATTACK_SECONDS=$(or $(SECONDS),60) cargo test --release --package agon --test server attack -- --nocapture

# make fuzz TARGET=verify SECONDS=600 runs cargo-fuzz on one target, without TARGET on all of them.
fuzz:
	scripts/fuzz $(or $(TARGET),all) $(or $(SECONDS),60)
