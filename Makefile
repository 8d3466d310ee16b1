# The commands of this project. Each is one line into cargo, npm or a script.

.DEFAULT_GOAL := help
.PHONY: help demo quick reproduce test test-python python bench bench-gate bench-peers bench-speed fuzz fuzz-long web docs picture linux linux-7.3 recommendations expert linux-vectors kernel test-kernel kernel-guest kernel-verdicts kernel-cost kernel-torture judged transports site look playground pages dist deb libgoodqueue.a

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{ printf "make %-15s %s\n", $$1, $$2 }'

demo: ## build gq, then compare queue algorithms on a home line and on a phone's link
	@tools/setup.sh build
	cargo build --release --bin gq
	@tools/demo.sh

quick: ## build gq for trying a change, in seconds after an edit: target/quick/gq
	@tools/setup.sh build
	cargo build --profile quick --bin gq

reproduce: ## run all studies of the gallery in quick mode; the report is out/gallery/report.html
	@tools/setup.sh build
	cargo build --release -p goodqueue-cli --bin gq --features print
	$${CARGO_TARGET_DIR:-target}/release/gq reproduce all --markdown gallery/RESULTS.md
	@# Figures that pages show: gallery/CHAPTER/figures/ID.svg.
	@for file in gallery/*/figures/*.svg; do chapter=$${file#gallery/}; cp "out/gallery/$${chapter%%/*}/fig-$${file##*/}" "$$file"; done

test: ## everything that must pass before a change lands
	@tools/setup.sh test
	@cargo xtask ci
	@# The tests of the command have built this program.
	@GQ="$$(realpath $${CARGO_TARGET_DIR:-target})/debug/gq" crates/web/test.sh
	@crates/python/test.sh
	@GQ="$$(realpath $${CARGO_TARGET_DIR:-target})/debug/gq" tools/bench/expert/test.sh
	@tools/site/check.sh

python: ## make .venv with the package goodqueue, its tools and gq
	@tools/setup.sh python
	VIRTUAL_ENV=$(CURDIR)/.venv PATH="$(CURDIR)/.venv/bin:$$PATH" maturin develop --release

test-python: ## the Python package's checks alone
	@tools/setup.sh python
	@crates/python/test.sh

libgoodqueue.a: ## the queues for programs in C, in target/release; the header is in crates/capi/include
	cargo build --release -p goodqueue-capi
	@cd $${CARGO_TARGET_DIR:-target}/release && cp libgoodqueue_c.a libgoodqueue.a

bench: ## cost of a verdict, an acknowledgement and an event
	cargo bench --workspace --bench '*'

bench-gate: ## fail when a packet costs more instructions than docs/cost.md says, in a queue or a simulation (needs valgrind)
	@cargo xtask cost --check

bench-speed: ## how fast gq is, next to ns-2 and ns-3 (installs them), HTSIM=CLONE and RATTAN=PROGRAM: docs/speed.md (half an hour, quiet machine)
	@tools/setup.sh test
	.venv/bin/python -B tools/bench/speed/run.py --install $(if $(HTSIM),--htsim $(HTSIM)) $(if $(RATTAN),--rattan $(RATTAN))

bench-peers: ## the same work in goodqueue, ns-2 and ns-3 (installs them; an hour and a half)
	@tools/setup.sh build
	cargo build --release --bin gq
	python3 tools/bench/peers/dumbbells.py --install
	python3 tools/bench/peers/survey.py --install
	python3 tools/bench/peers/controls.py --install
	python3 tools/bench/peers/rows.py --install

linux: ## build the guest kernel of `gq run --on linux` into the cache folder (10 minutes, once)
	@tools/setup.sh linux
	@kernel/guest/build.sh

linux-7.3: ## build a second guest kernel, Linux 7.3 (fetches 170 MB; half an hour, once)
	@tools/setup.sh linux
	@SERIES=7.3 kernel/guest/build.sh

recommendations: ## ten lines with gq recommend, checked with kernel senders: docs/recommendations.md (hours; resumes; needs `make linux`)
	cargo build --release --bin gq
	python3 tools/bench/recommendations.py

expert: ## ask gq about lines with known answers, five or twenty seeds each (hours; resumes): docs/expert.md (ARGS=--store)
	cargo build --release --bin gq
	@python3 -B tools/bench/expert/run.py $(ARGS)

linux-vectors: ## record the guest kernel's queue disciplines into crates/aqm/vectors/linux (a minute; needs `make linux`)
	@tools/setup.sh linux
	@kernel/guest/vectors/record.sh

kernel: ## build the queue discipline for the kernel of this machine: docs/on-a-router.md (two minutes)
	@tools/setup.sh kernel
	@kernel/build.sh build

test-kernel: ## try the queue discipline in a Debian kernel under qemu: every kind, wrong lines, removal under load (SERIES=7.3 or 6.12)
	@tools/setup.sh test-kernel
	@KDIR=$$(ls -d /lib/modules/*-cloud-amd64/build | sort -V | tail -1) OUT=$${CARGO_TARGET_DIR:-target}/kernel/test kernel/build.sh test
	@kernel/test/verdicts.sh 10000

kernel-guest: ## build the guest kernel with the queue discipline in it, for `gq run --on kernel` (10 minutes, once)
	@tools/setup.sh linux
	@tools/setup.sh kernel
	@kernel/build.sh guest

kernel-verdicts: ## every kind packet by packet, in the guest kernel and in the simulator (10 minutes; needs `make kernel-guest`)
	@kernel/test/verdicts.sh

kernel-cost: ## instructions per packet of each kind and of the kernel's own queue disciplines: docs/kernel-evidence.md
	@tools/setup.sh test-kernel
	@KDIR=$$(ls -d /lib/modules/*-cloud-amd64/build | sort -V | tail -1) OUT=$${CARGO_TARGET_DIR:-target}/kernel/test kernel/build.sh cost

kernel-torture: ## everything at once in a guest kernel that checks memory and locks and fails allocations (20 minutes the first time)
	@tools/setup.sh linux
	@tools/setup.sh kernel
	@kernel/build.sh torture

judged: ## what suites and guidelines of others say: docs/judged.md and the scorecards (SUITES=DIR with clones of the suites)
	@tools/setup.sh build
	@tools/setup.sh linux
	cargo build --release --bin gq --bin gq-checks
	python3 -B tools/bench/judged/run.py "$${CARGO_TARGET_DIR:-target}/release/gq" "$(or $(SUITES),suites)" out/judged

transports: ## QUIC stacks of others alongside our TCP over the same queues: docs/transport-scoreboard.md
	cd examples/transports && cargo run --release --locked -- --out ../../docs/transport-scoreboard.md

fuzz: ## arbitrary input to every reader (MINUTES=1 a target)
	@tools/fuzz/run.sh

fuzz-long: ## a thousand million random operations a queue, resumed where it stopped (MINUTES=10)
	cargo run --release -p goodqueue-testkit --example fuzz_long -- tools/fuzz/progress.txt $(or $(MINUTES),10)

web: ## build the front end; the report's template goes to crates/lab/assets
	@tools/setup.sh test
	npm --prefix crates/web run build

docs: ## write the generated pages again; build the library documentation into target/doc
	@tools/docs.sh
	cargo doc --workspace --no-deps

site: ## build the pages of docs/ as a site that needs no server: site/index.html
	@tools/setup.sh site
	@tools/site/build.sh

look: ## the site in a browser, every page light and dark, wide and narrow: pictures in target/site/pictures (5 minutes)
	@tools/setup.sh site
	@tools/setup.sh test
	@LOOK=all tools/site/build.sh

playground: ## build the playground that needs no server, one file: crates/web/dist/playground/playground.html
	@tools/setup.sh playground
	@crates/web/playground.sh

dist: ## make and try all packages: static gq, Debian, wheels, sdist, crates, container; into dist/, docs/install.md
	tools/packaging/dist.sh

deb: ## make and try the Debian package alone
	tools/packaging/dist.sh deb

pages: ## check the words of all pages, their links, and the code on them
	@tools/setup.sh test
	cargo build --bin gq
	@tools/site/check.sh

picture: ## draw the picture of README, and take those of docs/report.md and docs/serve.md
	@tools/setup.sh test
	cargo build --release --bin gq
	cargo test --quiet -p goodqueue-figure --test front_picture -- --ignored
	@tools/site/pictures.sh
