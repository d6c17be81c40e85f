# verify changes nothing, fix does; test is the README's test command.

.PHONY: test verify fix bench deny

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
