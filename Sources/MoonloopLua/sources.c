// Brings in the Lua sources by C23's #embed: one array and one row of the table for each.
#include "MoonloopLua.h"

static const char broker[] = {
#embed "lua/broker.lua"
};
static const char broker_receiver[] = {
#embed "lua/broker/receiver.lua"
};
static const char broker_scripts[] = {
#embed "lua/broker/scripts.lua"
};
static const char configuration[] = {
#embed "lua/configuration.lua"
};
static const char configuration_evaluation[] = {
#embed "lua/configuration/evaluation.lua"
};
static const char configuration_items[] = {
#embed "lua/configuration/items.lua"
};
static const char configuration_positions[] = {
#embed "lua/configuration/positions.lua"
};
static const char configuration_rules[] = {
#embed "lua/configuration/rules.lua"
};
static const char configuration_schema[] = {
#embed "lua/configuration/schema.lua"
};
static const char configuration_sources[] = {
#embed "lua/configuration/sources.lua"
};
static const char configuration_tokens[] = {
#embed "lua/configuration/tokens.lua"
};
static const char console_breakpoint[] = {
#embed "lua/console/breakpoint.lua"
};
static const char console_client[] = {
#embed "lua/console/client.lua"
};
static const char console_commands[] = {
#embed "lua/console/commands.lua"
};
static const char console_complete[] = {
#embed "lua/console/complete.lua"
};
static const char console_frames[] = {
#embed "lua/console/frames.lua"
};
static const char console_front[] = {
#embed "lua/console/front.lua"
};
static const char console_help[] = {
#embed "lua/console/help.lua"
};
static const char console_orders[] = {
#embed "lua/console/orders.lua"
};
static const char console_repl[] = {
#embed "lua/console/repl.lua"
};
static const char console_server[] = {
#embed "lua/console/server.lua"
};
static const char console_session[] = {
#embed "lua/console/session.lua"
};
static const char console_wire[] = {
#embed "lua/console/wire.lua"
};
static const char cron[] = {
#embed "lua/cron.lua"
};
static const char cron_civil[] = {
#embed "lua/cron/civil.lua"
};
static const char cron_schedule[] = {
#embed "lua/cron/schedule.lua"
};
static const char cron_zone[] = {
#embed "lua/cron/zone.lua"
};
static const char fs[] = {
#embed "lua/fs.lua"
};
static const char fs_file[] = {
#embed "lua/fs/file.lua"
};
static const char http[] = {
#embed "lua/http.lua"
};
static const char http_body[] = {
#embed "lua/http/body.lua"
};
static const char http_client[] = {
#embed "lua/http/client.lua"
};
static const char http_events[] = {
#embed "lua/http/events.lua"
};
static const char http_exchange[] = {
#embed "lua/http/exchange.lua"
};
static const char http_fields[] = {
#embed "lua/http/fields.lua"
};
static const char http_files[] = {
#embed "lua/http/files.lua"
};
static const char http_message[] = {
#embed "lua/http/message.lua"
};
static const char http_response[] = {
#embed "lua/http/response.lua"
};
static const char http_server[] = {
#embed "lua/http/server.lua"
};
static const char http_url[] = {
#embed "lua/http/url.lua"
};
static const char inspect[] = {
#embed "lua/inspect.lua"
};
static const char inspection_figures[] = {
#embed "lua/inspection/figures.lua"
};
static const char inspection_top[] = {
#embed "lua/inspection/top.lua"
};
static const char json[] = {
#embed "lua/json.lua"
};
static const char log_lines[] = {
#embed "lua/log/lines.lua"
};
static const char log_records[] = {
#embed "lua/log.lua"
};
static const char planning_check[] = {
#embed "lua/planning/check.lua"
};
static const char planning_check_configurations[] = {
#embed "lua/planning/check/configurations.lua"
};
static const char planning_check_lifetimes[] = {
#embed "lua/planning/check/lifetimes.lua"
};
static const char planning_check_literals[] = {
#embed "lua/planning/check/literals.lua"
};
static const char planning_check_names[] = {
#embed "lua/planning/check/names.lua"
};
static const char planning_check_recordings[] = {
#embed "lua/planning/check/recordings.lua"
};
static const char planning_check_rules[] = {
#embed "lua/planning/check/rules.lua"
};
static const char planning_check_scripts[] = {
#embed "lua/planning/check/scripts.lua"
};
static const char planning_check_slips[] = {
#embed "lua/planning/check/slips.lua"
};
static const char planning_check_source[] = {
#embed "lua/planning/check/source.lua"
};
static const char planning_main[] = {
#embed "lua/planning/main.lua"
};
static const char planning_page[] = {
#embed "lua/planning/page.lua"
};
static const char planning_plan[] = {
#embed "lua/planning/plan.lua"
};
static const char planning_report[] = {
#embed "lua/planning/report.lua"
};
static const char planning_simulation[] = {
#embed "lua/planning/simulation.lua"
};
static const char projects[] = {
#embed "lua/projects.lua"
};
static const char projects_templates[] = {
#embed "lua/projects/templates.lua"
};
static const char recording[] = {
#embed "lua/recording.lua"
};
static const char redis[] = {
#embed "lua/redis.lua"
};
static const char redis_link[] = {
#embed "lua/redis/link.lua"
};
static const char reference[] = {
#embed "lua/reference.lua"
};
static const char isolated[] = {
#embed "lua/isolated.lua"
};
static const char reach[] = {
#embed "lua/reach.lua"
};
static const char safe[] = {
#embed "lua/safe.lua"
};
static const char reload[] = {
#embed "lua/reload.lua"
};
static const char reload_bodies[] = {
#embed "lua/reload/bodies.lua"
};
static const char reload_watch[] = {
#embed "lua/reload/watch.lua"
};
static const char testing_assertions[] = {
#embed "lua/testing/assertions.lua"
};
static const char testing_bed[] = {
#embed "lua/testing/bed.lua"
};
static const char testing_beds[] = {
#embed "lua/testing/beds.lua"
};
static const char testing_bus[] = {
#embed "lua/testing/bus.lua"
};
static const char testing_clock[] = {
#embed "lua/testing/clock.lua"
};
static const char testing_diff[] = {
#embed "lua/testing/diff.lua"
};
static const char testing_discover[] = {
#embed "lua/testing/discover.lua"
};
static const char testing_durations[] = {
#embed "lua/testing/durations.lua"
};
static const char testing_embedded[] = {
#embed "lua/testing/embedded.lua"
};
static const char testing_environment[] = {
#embed "lua/testing/environment.lua"
};
static const char testing_explained[] = {
#embed "lua/testing/explained.lua"
};
static const char testing_facade[] = {
#embed "lua/testing/facade.lua"
};
static const char testing_failure[] = {
#embed "lua/testing/failure.lua"
};
static const char testing_filter[] = {
#embed "lua/testing/filter.lua"
};
static const char testing_fixtures[] = {
#embed "lua/testing/fixtures.lua"
};
static const char testing_foreign[] = {
#embed "lua/testing/foreign.lua"
};
static const char testing_hooks[] = {
#embed "lua/testing/hooks.lua"
};
static const char testing_jobs[] = {
#embed "lua/testing/jobs.lua"
};
static const char testing_keys[] = {
#embed "lua/testing/keys.lua"
};
static const char testing_main[] = {
#embed "lua/testing/main.lua"
};
static const char testing_memory[] = {
#embed "lua/testing/memory.lua"
};
static const char testing_options[] = {
#embed "lua/testing/options.lua"
};
static const char testing_output[] = {
#embed "lua/testing/output.lua"
};
static const char testing_programs[] = {
#embed "lua/testing/programs.lua"
};
static const char testing_properties[] = {
#embed "lua/testing/properties.lua"
};
static const char testing_records[] = {
#embed "lua/testing/records.lua"
};
static const char testing_report[] = {
#embed "lua/testing/report.lua"
};
static const char testing_report_github[] = {
#embed "lua/testing/report/github.lua"
};
static const char testing_report_json[] = {
#embed "lua/testing/report/json.lua"
};
static const char testing_report_junit[] = {
#embed "lua/testing/report/junit.lua"
};
static const char testing_report_people[] = {
#embed "lua/testing/report/people.lua"
};
static const char testing_report_tap[] = {
#embed "lua/testing/report/tap.lua"
};
static const char testing_requests[] = {
#embed "lua/testing/requests.lua"
};
static const char testing_runner[] = {
#embed "lua/testing/runner.lua"
};
static const char testing_screen[] = {
#embed "lua/testing/screen.lua"
};
static const char testing_sequences[] = {
#embed "lua/testing/sequences.lua"
};
static const char testing_shuffle[] = {
#embed "lua/testing/shuffle.lua"
};
static const char testing_steps[] = {
#embed "lua/testing/steps.lua"
};
static const char testing_surface[] = {
#embed "lua/testing/surface.lua"
};
static const char testing_tools[] = {
#embed "lua/testing/tools.lua"
};
static const char testing_values[] = {
#embed "lua/testing/values.lua"
};
static const char testing_doubles_http[] = {
#embed "lua/testing/doubles/http.lua"
};
static const char testing_doubles_kept[] = {
#embed "lua/testing/doubles/kept.lua"
};
static const char testing_doubles_tcp[] = {
#embed "lua/testing/doubles/tcp.lua"
};
static const char testing_recordings[] = {
#embed "lua/testing/recordings.lua"
};
static const char testing_watch[] = {
#embed "lua/testing/watch.lua"
};
static const char testing_words[] = {
#embed "lua/testing/words.lua"
};
static const char testing_worker[] = {
#embed "lua/testing/worker.lua"
};
static const char text_layout[] = {
#embed "lua/text/layout.lua"
};
static const char text_options[] = {
#embed "lua/text/options.lua"
};
static const char text_quoting[] = {
#embed "lua/text/quoting.lua"
};
static const char text_site[] = {
#embed "lua/text/site.lua"
};
static const char text_spelling[] = {
#embed "lua/text/spelling.lua"
};
static const char text_units[] = {
#embed "lua/text/units.lua"
};
static const char text_values[] = {
#embed "lua/text/values.lua"
};
static const char unheld[] = {
#embed "lua/unheld.lua"
};
static const char workers[] = {
#embed "lua/workers.lua"
};

#define SOURCE(module, name) {"moonloop." module, "@moonloop/" module, name, sizeof name}

static const struct cmo_source sources[] = {
    SOURCE("broker", broker), SOURCE("broker.receiver", broker_receiver),
    SOURCE("broker.scripts", broker_scripts), SOURCE("configuration", configuration),
    SOURCE("configuration.evaluation", configuration_evaluation),
    SOURCE("configuration.items", configuration_items),
    SOURCE("configuration.positions", configuration_positions),
    SOURCE("configuration.rules", configuration_rules),
    SOURCE("configuration.schema", configuration_schema),
    SOURCE("configuration.sources", configuration_sources),
    SOURCE("configuration.tokens", configuration_tokens),
    SOURCE("console.breakpoint", console_breakpoint), SOURCE("console.client", console_client),
    SOURCE("console.commands", console_commands), SOURCE("console.complete", console_complete),
    SOURCE("console.frames", console_frames), SOURCE("console.front", console_front),
    SOURCE("console.help", console_help), SOURCE("console.orders", console_orders),
    SOURCE("console.repl", console_repl), SOURCE("console.server", console_server),
    SOURCE("console.session", console_session), SOURCE("console.wire", console_wire),
    SOURCE("cron", cron), SOURCE("cron.civil", cron_civil),
    SOURCE("cron.schedule", cron_schedule), SOURCE("cron.zone", cron_zone),
    SOURCE("fs", fs), SOURCE("fs.file", fs_file),
    SOURCE("http", http), SOURCE("http.body", http_body),
    SOURCE("http.client", http_client), SOURCE("http.events", http_events),
    SOURCE("http.exchange", http_exchange), SOURCE("http.fields", http_fields),
    SOURCE("http.files", http_files), SOURCE("http.message", http_message),
    SOURCE("http.response", http_response), SOURCE("http.server", http_server),
    SOURCE("http.url", http_url), SOURCE("inspect", inspect),
    SOURCE("inspection.figures", inspection_figures), SOURCE("inspection.top", inspection_top),
    SOURCE("json", json),
    SOURCE("log", log_records), SOURCE("log.lines", log_lines),
    SOURCE("planning.check", planning_check),
    SOURCE("planning.check.configurations", planning_check_configurations),
    SOURCE("planning.check.lifetimes", planning_check_lifetimes),
    SOURCE("planning.check.literals", planning_check_literals),
    SOURCE("planning.check.names", planning_check_names),
    SOURCE("planning.check.recordings", planning_check_recordings),
    SOURCE("planning.check.rules", planning_check_rules),
    SOURCE("planning.check.scripts", planning_check_scripts),
    SOURCE("planning.check.slips", planning_check_slips),
    SOURCE("planning.check.source", planning_check_source), SOURCE("planning.main", planning_main),
    SOURCE("planning.page", planning_page), SOURCE("planning.plan", planning_plan),
    SOURCE("planning.report", planning_report), SOURCE("planning.simulation", planning_simulation),
    SOURCE("projects", projects), SOURCE("projects.templates", projects_templates),
    SOURCE("recording", recording), SOURCE("redis", redis), SOURCE("redis.link", redis_link),
    SOURCE("reference", reference),
    SOURCE("reload", reload), SOURCE("reload.bodies", reload_bodies),
    SOURCE("reload.watch", reload_watch), SOURCE("isolated", isolated),
    SOURCE("reach", reach), SOURCE("safe", safe),
    SOURCE("testing.assertions", testing_assertions), SOURCE("testing.bed", testing_bed),
    SOURCE("testing.beds", testing_beds), SOURCE("testing.bus", testing_bus),
    SOURCE("testing.clock", testing_clock), SOURCE("testing.diff", testing_diff),
    SOURCE("testing.discover", testing_discover), SOURCE("testing.durations", testing_durations),
    SOURCE("testing.embedded", testing_embedded),
    SOURCE("testing.environment", testing_environment),
    SOURCE("testing.explained", testing_explained), SOURCE("testing.facade", testing_facade),
    SOURCE("testing.failure", testing_failure), SOURCE("testing.filter", testing_filter),
    SOURCE("testing.fixtures", testing_fixtures), SOURCE("testing.foreign", testing_foreign),
    SOURCE("testing.hooks", testing_hooks), SOURCE("testing.jobs", testing_jobs),
    SOURCE("testing.keys", testing_keys), SOURCE("testing.main", testing_main),
    SOURCE("testing.memory", testing_memory), SOURCE("testing.options", testing_options),
    SOURCE("testing.output", testing_output), SOURCE("testing.programs", testing_programs),
    SOURCE("testing.properties", testing_properties), SOURCE("testing.records", testing_records),
    SOURCE("testing.report", testing_report),
    SOURCE("testing.report.github", testing_report_github),
    SOURCE("testing.report.json", testing_report_json),
    SOURCE("testing.report.junit", testing_report_junit),
    SOURCE("testing.report.people", testing_report_people),
    SOURCE("testing.report.tap", testing_report_tap), SOURCE("testing.requests", testing_requests),
    SOURCE("testing.runner", testing_runner), SOURCE("testing.screen", testing_screen),
    SOURCE("testing.sequences", testing_sequences), SOURCE("testing.shuffle", testing_shuffle),
    SOURCE("testing.steps", testing_steps), SOURCE("testing.surface", testing_surface),
    SOURCE("testing.tools", testing_tools), SOURCE("testing.values", testing_values),
    SOURCE("testing.doubles.http", testing_doubles_http),
    SOURCE("testing.doubles.kept", testing_doubles_kept),
    SOURCE("testing.doubles.tcp", testing_doubles_tcp),
    SOURCE("testing.recordings", testing_recordings),
    SOURCE("testing.watch", testing_watch), SOURCE("testing.words", testing_words),
    SOURCE("testing.worker", testing_worker), SOURCE("text.layout", text_layout),
    SOURCE("text.options", text_options), SOURCE("text.quoting", text_quoting),
    SOURCE("text.site", text_site), SOURCE("text.spelling", text_spelling),
    SOURCE("text.units", text_units), SOURCE("text.values", text_values),
    SOURCE("unheld", unheld), SOURCE("workers", workers),
};

const struct cmo_source *cmo_sources(size_t *count) {
  *count = sizeof sources / sizeof *sources;
  return sources;
}
