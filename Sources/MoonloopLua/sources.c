// Embeds the Lua sources with C23's #embed.
#include "MoonloopLua.h"

#define MODULE(name) {"moonloop." name, "@moonloop/" name, (const char[]) {
#define END }}

static const struct cmo_source sources[] = {
    MODULE("broker")
#embed "lua/broker.lua" suffix(, 0)
    END,
    MODULE("broker.receiver")
#embed "lua/broker/receiver.lua" suffix(, 0)
    END,
    MODULE("broker.scripts")
#embed "lua/broker/scripts.lua" suffix(, 0)
    END,
    MODULE("configuration")
#embed "lua/configuration.lua" suffix(, 0)
    END,
    MODULE("configuration.evaluation")
#embed "lua/configuration/evaluation.lua" suffix(, 0)
    END,
    MODULE("configuration.items")
#embed "lua/configuration/items.lua" suffix(, 0)
    END,
    MODULE("configuration.positions")
#embed "lua/configuration/positions.lua" suffix(, 0)
    END,
    MODULE("configuration.rules")
#embed "lua/configuration/rules.lua" suffix(, 0)
    END,
    MODULE("configuration.schema")
#embed "lua/configuration/schema.lua" suffix(, 0)
    END,
    MODULE("configuration.sources")
#embed "lua/configuration/sources.lua" suffix(, 0)
    END,
    MODULE("configuration.tokens")
#embed "lua/configuration/tokens.lua" suffix(, 0)
    END,
    MODULE("console.breakpoint")
#embed "lua/console/breakpoint.lua" suffix(, 0)
    END,
    MODULE("console.client")
#embed "lua/console/client.lua" suffix(, 0)
    END,
    MODULE("console.commands")
#embed "lua/console/commands.lua" suffix(, 0)
    END,
    MODULE("console.complete")
#embed "lua/console/complete.lua" suffix(, 0)
    END,
    MODULE("console.frames")
#embed "lua/console/frames.lua" suffix(, 0)
    END,
    MODULE("console.front")
#embed "lua/console/front.lua" suffix(, 0)
    END,
    MODULE("console.help")
#embed "lua/console/help.lua" suffix(, 0)
    END,
    MODULE("console.pages")
#embed "lua/console/pages.lua" suffix(, 0)
    END,
    MODULE("console.orders")
#embed "lua/console/orders.lua" suffix(, 0)
    END,
    MODULE("console.repl")
#embed "lua/console/repl.lua" suffix(, 0)
    END,
    MODULE("console.server")
#embed "lua/console/server.lua" suffix(, 0)
    END,
    MODULE("console.session")
#embed "lua/console/session.lua" suffix(, 0)
    END,
    MODULE("console.wire")
#embed "lua/console/wire.lua" suffix(, 0)
    END,
    MODULE("cron")
#embed "lua/cron.lua" suffix(, 0)
    END,
    MODULE("cron.civil")
#embed "lua/cron/civil.lua" suffix(, 0)
    END,
    MODULE("cron.schedule")
#embed "lua/cron/schedule.lua" suffix(, 0)
    END,
    MODULE("cron.zone")
#embed "lua/cron/zone.lua" suffix(, 0)
    END,
    MODULE("fs")
#embed "lua/fs.lua" suffix(, 0)
    END,
    MODULE("fs.file")
#embed "lua/fs/file.lua" suffix(, 0)
    END,
    MODULE("http")
#embed "lua/http.lua" suffix(, 0)
    END,
    MODULE("http.body")
#embed "lua/http/body.lua" suffix(, 0)
    END,
    MODULE("http.client")
#embed "lua/http/client.lua" suffix(, 0)
    END,
    MODULE("http.events")
#embed "lua/http/events.lua" suffix(, 0)
    END,
    MODULE("http.exchange")
#embed "lua/http/exchange.lua" suffix(, 0)
    END,
    MODULE("http.fields")
#embed "lua/http/fields.lua" suffix(, 0)
    END,
    MODULE("http.files")
#embed "lua/http/files.lua" suffix(, 0)
    END,
    MODULE("http.message")
#embed "lua/http/message.lua" suffix(, 0)
    END,
    MODULE("http.response")
#embed "lua/http/response.lua" suffix(, 0)
    END,
    MODULE("http.server")
#embed "lua/http/server.lua" suffix(, 0)
    END,
    MODULE("http.url")
#embed "lua/http/url.lua" suffix(, 0)
    END,
    MODULE("inspect")
#embed "lua/inspect.lua" suffix(, 0)
    END,
    MODULE("inspection.figures")
#embed "lua/inspection/figures.lua" suffix(, 0)
    END,
    MODULE("inspection.top")
#embed "lua/inspection/top.lua" suffix(, 0)
    END,
    MODULE("json")
#embed "lua/json.lua" suffix(, 0)
    END,
    MODULE("log")
#embed "lua/log.lua" suffix(, 0)
    END,
    MODULE("log.lines")
#embed "lua/log/lines.lua" suffix(, 0)
    END,
    MODULE("planning.check")
#embed "lua/planning/check.lua" suffix(, 0)
    END,
    MODULE("planning.check.configurations")
#embed "lua/planning/check/configurations.lua" suffix(, 0)
    END,
    MODULE("planning.check.lifetimes")
#embed "lua/planning/check/lifetimes.lua" suffix(, 0)
    END,
    MODULE("planning.check.literals")
#embed "lua/planning/check/literals.lua" suffix(, 0)
    END,
    MODULE("planning.check.names")
#embed "lua/planning/check/names.lua" suffix(, 0)
    END,
    MODULE("planning.check.recordings")
#embed "lua/planning/check/recordings.lua" suffix(, 0)
    END,
    MODULE("planning.check.rules")
#embed "lua/planning/check/rules.lua" suffix(, 0)
    END,
    MODULE("planning.check.scripts")
#embed "lua/planning/check/scripts.lua" suffix(, 0)
    END,
    MODULE("planning.check.slips")
#embed "lua/planning/check/slips.lua" suffix(, 0)
    END,
    MODULE("planning.check.source")
#embed "lua/planning/check/source.lua" suffix(, 0)
    END,
    MODULE("planning.main")
#embed "lua/planning/main.lua" suffix(, 0)
    END,
    MODULE("planning.page")
#embed "lua/planning/page.lua" suffix(, 0)
    END,
    MODULE("planning.plan")
#embed "lua/planning/plan.lua" suffix(, 0)
    END,
    MODULE("planning.report")
#embed "lua/planning/report.lua" suffix(, 0)
    END,
    MODULE("planning.simulation")
#embed "lua/planning/simulation.lua" suffix(, 0)
    END,
    MODULE("projects")
#embed "lua/projects.lua" suffix(, 0)
    END,
    MODULE("projects.templates")
#embed "lua/projects/templates.lua" suffix(, 0)
    END,
    MODULE("recording")
#embed "lua/recording.lua" suffix(, 0)
    END,
    MODULE("redis")
#embed "lua/redis.lua" suffix(, 0)
    END,
    MODULE("redis.link")
#embed "lua/redis/link.lua" suffix(, 0)
    END,
    MODULE("reference")
#embed "lua/reference.lua" suffix(, 0)
    END,
    MODULE("reload")
#embed "lua/reload.lua" suffix(, 0)
    END,
    MODULE("reload.bodies")
#embed "lua/reload/bodies.lua" suffix(, 0)
    END,
    MODULE("reload.watch")
#embed "lua/reload/watch.lua" suffix(, 0)
    END,
    MODULE("isolated")
#embed "lua/isolated.lua" suffix(, 0)
    END,
    MODULE("reach")
#embed "lua/reach.lua" suffix(, 0)
    END,
    MODULE("testing.assertions")
#embed "lua/testing/assertions.lua" suffix(, 0)
    END,
    MODULE("testing.bed")
#embed "lua/testing/bed.lua" suffix(, 0)
    END,
    MODULE("testing.beds")
#embed "lua/testing/beds.lua" suffix(, 0)
    END,
    MODULE("testing.bus")
#embed "lua/testing/bus.lua" suffix(, 0)
    END,
    MODULE("testing.clock")
#embed "lua/testing/clock.lua" suffix(, 0)
    END,
    MODULE("testing.diff")
#embed "lua/testing/diff.lua" suffix(, 0)
    END,
    MODULE("testing.discover")
#embed "lua/testing/discover.lua" suffix(, 0)
    END,
    MODULE("testing.durations")
#embed "lua/testing/durations.lua" suffix(, 0)
    END,
    MODULE("testing.embedded")
#embed "lua/testing/embedded.lua" suffix(, 0)
    END,
    MODULE("testing.environment")
#embed "lua/testing/environment.lua" suffix(, 0)
    END,
    MODULE("testing.explained")
#embed "lua/testing/explained.lua" suffix(, 0)
    END,
    MODULE("testing.facade")
#embed "lua/testing/facade.lua" suffix(, 0)
    END,
    MODULE("testing.failure")
#embed "lua/testing/failure.lua" suffix(, 0)
    END,
    MODULE("testing.filter")
#embed "lua/testing/filter.lua" suffix(, 0)
    END,
    MODULE("testing.fixtures")
#embed "lua/testing/fixtures.lua" suffix(, 0)
    END,
    MODULE("testing.foreign")
#embed "lua/testing/foreign.lua" suffix(, 0)
    END,
    MODULE("testing.hooks")
#embed "lua/testing/hooks.lua" suffix(, 0)
    END,
    MODULE("testing.jobs")
#embed "lua/testing/jobs.lua" suffix(, 0)
    END,
    MODULE("testing.keys")
#embed "lua/testing/keys.lua" suffix(, 0)
    END,
    MODULE("testing.main")
#embed "lua/testing/main.lua" suffix(, 0)
    END,
    MODULE("testing.memory")
#embed "lua/testing/memory.lua" suffix(, 0)
    END,
    MODULE("testing.options")
#embed "lua/testing/options.lua" suffix(, 0)
    END,
    MODULE("testing.orphans")
#embed "lua/testing/orphans.lua" suffix(, 0)
    END,
    MODULE("testing.output")
#embed "lua/testing/output.lua" suffix(, 0)
    END,
    MODULE("testing.programs")
#embed "lua/testing/programs.lua" suffix(, 0)
    END,
    MODULE("testing.properties")
#embed "lua/testing/properties.lua" suffix(, 0)
    END,
    MODULE("testing.records")
#embed "lua/testing/records.lua" suffix(, 0)
    END,
    MODULE("testing.report")
#embed "lua/testing/report.lua" suffix(, 0)
    END,
    MODULE("testing.report.github")
#embed "lua/testing/report/github.lua" suffix(, 0)
    END,
    MODULE("testing.report.json")
#embed "lua/testing/report/json.lua" suffix(, 0)
    END,
    MODULE("testing.report.junit")
#embed "lua/testing/report/junit.lua" suffix(, 0)
    END,
    MODULE("testing.report.people")
#embed "lua/testing/report/people.lua" suffix(, 0)
    END,
    MODULE("testing.report.tap")
#embed "lua/testing/report/tap.lua" suffix(, 0)
    END,
    MODULE("testing.requests")
#embed "lua/testing/requests.lua" suffix(, 0)
    END,
    MODULE("testing.runner")
#embed "lua/testing/runner.lua" suffix(, 0)
    END,
    MODULE("testing.screen")
#embed "lua/testing/screen.lua" suffix(, 0)
    END,
    MODULE("testing.sequences")
#embed "lua/testing/sequences.lua" suffix(, 0)
    END,
    MODULE("testing.shuffle")
#embed "lua/testing/shuffle.lua" suffix(, 0)
    END,
    MODULE("testing.steps")
#embed "lua/testing/steps.lua" suffix(, 0)
    END,
    MODULE("testing.surface")
#embed "lua/testing/surface.lua" suffix(, 0)
    END,
    MODULE("testing.tools")
#embed "lua/testing/tools.lua" suffix(, 0)
    END,
    MODULE("testing.values")
#embed "lua/testing/values.lua" suffix(, 0)
    END,
    MODULE("testing.doubles.http")
#embed "lua/testing/doubles/http.lua" suffix(, 0)
    END,
    MODULE("testing.doubles.kept")
#embed "lua/testing/doubles/kept.lua" suffix(, 0)
    END,
    MODULE("testing.doubles.tcp")
#embed "lua/testing/doubles/tcp.lua" suffix(, 0)
    END,
    MODULE("testing.recordings")
#embed "lua/testing/recordings.lua" suffix(, 0)
    END,
    MODULE("testing.watch")
#embed "lua/testing/watch.lua" suffix(, 0)
    END,
    MODULE("testing.words")
#embed "lua/testing/words.lua" suffix(, 0)
    END,
    MODULE("testing.worker")
#embed "lua/testing/worker.lua" suffix(, 0)
    END,
    MODULE("text.layout")
#embed "lua/text/layout.lua" suffix(, 0)
    END,
    MODULE("text.options")
#embed "lua/text/options.lua" suffix(, 0)
    END,
    MODULE("text.patterns")
#embed "lua/text/patterns.lua" suffix(, 0)
    END,
    MODULE("text.quoting")
#embed "lua/text/quoting.lua" suffix(, 0)
    END,
    MODULE("text.site")
#embed "lua/text/site.lua" suffix(, 0)
    END,
    MODULE("text.spelling")
#embed "lua/text/spelling.lua" suffix(, 0)
    END,
    MODULE("text.units")
#embed "lua/text/units.lua" suffix(, 0)
    END,
    MODULE("text.values")
#embed "lua/text/values.lua" suffix(, 0)
    END,
    MODULE("unheld")
#embed "lua/unheld.lua" suffix(, 0)
    END,
    MODULE("workers")
#embed "lua/workers.lua" suffix(, 0)
    END,
};

const struct cmo_source *cmo_sources(size_t *count) {
  *count = sizeof sources / sizeof *sources;
  return sources;
}
