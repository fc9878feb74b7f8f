// Brings in the Lua sources by C23's #embed: one array and one row of the table for each.
#include "MoonloopLua.h"

static const char bed[] = {
#embed "lua/bed.lua"
};
static const char compat_socket[] = {
#embed "lua/compat/socket.lua"
};
static const char compat_uv[] = {
#embed "lua/compat/uv.lua"
};
static const char compat_uv_async[] = {
#embed "lua/compat/uv/async.lua"
};
static const char compat_uv_constants[] = {
#embed "lua/compat/uv/constants.lua"
};
static const char compat_uv_core[] = {
#embed "lua/compat/uv/core.lua"
};
static const char compat_uv_dns[] = {
#embed "lua/compat/uv/dns.lua"
};
static const char compat_uv_errors[] = {
#embed "lua/compat/uv/errors.lua"
};
static const char compat_uv_fs[] = {
#embed "lua/compat/uv/fs.lua"
};
static const char compat_uv_fs_event[] = {
#embed "lua/compat/uv/fs_event.lua"
};
static const char compat_uv_pipe[] = {
#embed "lua/compat/uv/pipe.lua"
};
static const char compat_uv_poll[] = {
#embed "lua/compat/uv/poll.lua"
};
static const char compat_uv_process[] = {
#embed "lua/compat/uv/process.lua"
};
static const char compat_uv_signal[] = {
#embed "lua/compat/uv/signal.lua"
};
static const char compat_uv_socket[] = {
#embed "lua/compat/uv/socket.lua"
};
static const char compat_uv_stages[] = {
#embed "lua/compat/uv/stages.lua"
};
static const char compat_uv_stream[] = {
#embed "lua/compat/uv/stream.lua"
};
static const char compat_uv_system[] = {
#embed "lua/compat/uv/system.lua"
};
static const char compat_uv_tcp[] = {
#embed "lua/compat/uv/tcp.lua"
};
static const char compat_uv_timer[] = {
#embed "lua/compat/uv/timer.lua"
};
static const char compat_uv_tty[] = {
#embed "lua/compat/uv/tty.lua"
};
static const char compat_uv_udp[] = {
#embed "lua/compat/uv/udp.lua"
};
static const char compat_uv_work[] = {
#embed "lua/compat/uv/work.lua"
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
static const char console_show[] = {
#embed "lua/console/show.lua"
};
static const char console_wire[] = {
#embed "lua/console/wire.lua"
};
static const char http[] = {
#embed "lua/http.lua"
};
static const char http_client[] = {
#embed "lua/http/client.lua"
};
static const char http_message[] = {
#embed "lua/http/message.lua"
};
static const char http_server[] = {
#embed "lua/http/server.lua"
};
static const char http_url[] = {
#embed "lua/http/url.lua"
};
static const char json[] = {
#embed "lua/json.lua"
};
static const char json_decode[] = {
#embed "lua/json/decode.lua"
};
static const char json_encode[] = {
#embed "lua/json/encode.lua"
};
static const char planning_check[] = {
#embed "lua/planning/check.lua"
};
static const char planning_check_configurations[] = {
#embed "lua/planning/check/configurations.lua"
};
static const char planning_check_literals[] = {
#embed "lua/planning/check/literals.lua"
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
static const char recording[] = {
#embed "lua/recording.lua"
};
static const char reference[] = {
#embed "lua/reference.lua"
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
static const char seeing_figures[] = {
#embed "lua/seeing/figures.lua"
};
static const char seeing_top[] = {
#embed "lua/seeing/top.lua"
};
static const char test_assertions[] = {
#embed "lua/test/assertions.lua"
};
static const char test_beds[] = {
#embed "lua/test/beds.lua"
};
static const char test_bus[] = {
#embed "lua/test/bus.lua"
};
static const char test_clock[] = {
#embed "lua/test/clock.lua"
};
static const char test_diff[] = {
#embed "lua/test/diff.lua"
};
static const char test_discover[] = {
#embed "lua/test/discover.lua"
};
static const char test_embedded[] = {
#embed "lua/test/embedded.lua"
};
static const char test_environment[] = {
#embed "lua/test/environment.lua"
};
static const char test_explained[] = {
#embed "lua/test/explained.lua"
};
static const char test_facade[] = {
#embed "lua/test/facade.lua"
};
static const char test_failure[] = {
#embed "lua/test/failure.lua"
};
static const char test_filter[] = {
#embed "lua/test/filter.lua"
};
static const char test_fixtures[] = {
#embed "lua/test/fixtures.lua"
};
static const char test_hooks[] = {
#embed "lua/test/hooks.lua"
};
static const char test_jobs[] = {
#embed "lua/test/jobs.lua"
};
static const char test_main[] = {
#embed "lua/test/main.lua"
};
static const char test_options[] = {
#embed "lua/test/options.lua"
};
static const char test_output[] = {
#embed "lua/test/output.lua"
};
static const char test_programs[] = {
#embed "lua/test/programs.lua"
};
static const char test_records[] = {
#embed "lua/test/records.lua"
};
static const char test_report[] = {
#embed "lua/test/report.lua"
};
static const char test_report_json[] = {
#embed "lua/test/report/json.lua"
};
static const char test_report_junit[] = {
#embed "lua/test/report/junit.lua"
};
static const char test_report_people[] = {
#embed "lua/test/report/people.lua"
};
static const char test_report_tap[] = {
#embed "lua/test/report/tap.lua"
};
static const char test_requests[] = {
#embed "lua/test/requests.lua"
};
static const char test_runner[] = {
#embed "lua/test/runner.lua"
};
static const char test_shuffle[] = {
#embed "lua/test/shuffle.lua"
};
static const char test_steps[] = {
#embed "lua/test/steps.lua"
};
static const char test_tools[] = {
#embed "lua/test/tools.lua"
};
static const char test_values[] = {
#embed "lua/test/values.lua"
};
static const char test_watch[] = {
#embed "lua/test/watch.lua"
};
static const char test_words[] = {
#embed "lua/test/words.lua"
};
static const char test_worker[] = {
#embed "lua/test/worker.lua"
};
static const char text_layout[] = {
#embed "lua/text/layout.lua"
};
static const char text_quoting[] = {
#embed "lua/text/quoting.lua"
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

#define SOURCE(module, name) {"moonloop." module, "@moonloop/" module, name, sizeof name}

static const struct cmo_source sources[] = {
    SOURCE("bed", bed),
    SOURCE("compat.socket", compat_socket),
    SOURCE("compat.uv", compat_uv),
    SOURCE("compat.uv.async", compat_uv_async),
    SOURCE("compat.uv.constants", compat_uv_constants),
    SOURCE("compat.uv.core", compat_uv_core),
    SOURCE("compat.uv.dns", compat_uv_dns),
    SOURCE("compat.uv.errors", compat_uv_errors),
    SOURCE("compat.uv.fs", compat_uv_fs),
    SOURCE("compat.uv.fs_event", compat_uv_fs_event),
    SOURCE("compat.uv.pipe", compat_uv_pipe),
    SOURCE("compat.uv.poll", compat_uv_poll),
    SOURCE("compat.uv.process", compat_uv_process),
    SOURCE("compat.uv.signal", compat_uv_signal),
    SOURCE("compat.uv.socket", compat_uv_socket),
    SOURCE("compat.uv.stages", compat_uv_stages),
    SOURCE("compat.uv.stream", compat_uv_stream),
    SOURCE("compat.uv.system", compat_uv_system),
    SOURCE("compat.uv.tcp", compat_uv_tcp),
    SOURCE("compat.uv.timer", compat_uv_timer),
    SOURCE("compat.uv.tty", compat_uv_tty),
    SOURCE("compat.uv.udp", compat_uv_udp),
    SOURCE("compat.uv.work", compat_uv_work),
    SOURCE("configuration", configuration),
    SOURCE("configuration.evaluation", configuration_evaluation),
    SOURCE("configuration.items", configuration_items),
    SOURCE("configuration.positions", configuration_positions),
    SOURCE("configuration.rules", configuration_rules),
    SOURCE("configuration.schema", configuration_schema),
    SOURCE("configuration.sources", configuration_sources),
    SOURCE("configuration.tokens", configuration_tokens),
    SOURCE("console.breakpoint", console_breakpoint),
    SOURCE("console.client", console_client),
    SOURCE("console.commands", console_commands),
    SOURCE("console.complete", console_complete),
    SOURCE("console.frames", console_frames),
    SOURCE("console.front", console_front),
    SOURCE("console.help", console_help),
    SOURCE("console.orders", console_orders),
    SOURCE("console.repl", console_repl),
    SOURCE("console.server", console_server),
    SOURCE("console.session", console_session),
    SOURCE("console.show", console_show),
    SOURCE("console.wire", console_wire),
    SOURCE("http", http),
    SOURCE("http.client", http_client),
    SOURCE("http.message", http_message),
    SOURCE("http.server", http_server),
    SOURCE("http.url", http_url),
    SOURCE("json", json),
    SOURCE("json.decode", json_decode),
    SOURCE("json.encode", json_encode),
    SOURCE("planning.check", planning_check),
    SOURCE("planning.check.configurations", planning_check_configurations),
    SOURCE("planning.check.literals", planning_check_literals),
    SOURCE("planning.check.recordings", planning_check_recordings),
    SOURCE("planning.check.rules", planning_check_rules),
    SOURCE("planning.check.scripts", planning_check_scripts),
    SOURCE("planning.check.source", planning_check_source),
    SOURCE("planning.main", planning_main),
    SOURCE("planning.page", planning_page),
    SOURCE("planning.plan", planning_plan),
    SOURCE("planning.report", planning_report),
    SOURCE("planning.simulation", planning_simulation),
    SOURCE("recording", recording),
    SOURCE("reference", reference),
    SOURCE("reload", reload),
    SOURCE("reload.bodies", reload_bodies),
    SOURCE("reload.watch", reload_watch),
    SOURCE("seeing.figures", seeing_figures),
    SOURCE("seeing.top", seeing_top),
    SOURCE("test.assertions", test_assertions),
    SOURCE("test.beds", test_beds),
    SOURCE("test.bus", test_bus),
    SOURCE("test.clock", test_clock),
    SOURCE("test.diff", test_diff),
    SOURCE("test.discover", test_discover),
    SOURCE("test.embedded", test_embedded),
    SOURCE("test.environment", test_environment),
    SOURCE("test.explained", test_explained),
    SOURCE("test.facade", test_facade),
    SOURCE("test.failure", test_failure),
    SOURCE("test.filter", test_filter),
    SOURCE("test.fixtures", test_fixtures),
    SOURCE("test.hooks", test_hooks),
    SOURCE("test.jobs", test_jobs),
    SOURCE("test.main", test_main),
    SOURCE("test.options", test_options),
    SOURCE("test.output", test_output),
    SOURCE("test.programs", test_programs),
    SOURCE("test.records", test_records),
    SOURCE("test.report", test_report),
    SOURCE("test.report.json", test_report_json),
    SOURCE("test.report.junit", test_report_junit),
    SOURCE("test.report.people", test_report_people),
    SOURCE("test.report.tap", test_report_tap),
    SOURCE("test.requests", test_requests),
    SOURCE("test.runner", test_runner),
    SOURCE("test.shuffle", test_shuffle),
    SOURCE("test.steps", test_steps),
    SOURCE("test.tools", test_tools),
    SOURCE("test.values", test_values),
    SOURCE("test.watch", test_watch),
    SOURCE("test.words", test_words),
    SOURCE("test.worker", test_worker),
    SOURCE("text.layout", text_layout),
    SOURCE("text.quoting", text_quoting),
    SOURCE("text.spelling", text_spelling),
    SOURCE("text.units", text_units),
    SOURCE("text.values", text_values),
};

const struct cmo_source *cmo_sources(size_t *count) {
  *count = sizeof sources / sizeof *sources;
  return sources;
}
