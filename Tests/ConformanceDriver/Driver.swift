// Runs scenarios in this process and prints the lines that the format asks for.

import ConformanceFormat

enum Driver {
  /// Runs scenarios, several at a time, and ends the process.
  static func run(_ scenarios: [Scenario], _ options: Options) -> Never {
    let scale = timeScale()
    Batch.run(scenarios, jobs: options.jobs, limit: UInt64(Scenario.limit * scale)) { job in
      if reasonNotToRun(job.scenario, options) != nil { return job.refuse() }
      if options.face == .model || options.face == .cfModel {
        return job.finish(with: Model.perform(job.scenario, Ruling.all(of: options.face)).trace)
      }
      let world: any World =
        options.kernel == .real ? RealWorld() : SimulatedScene { job.giveUp() }
      let engine = Engine(job, world: world, scale: scale) { receiver in
        switch options.face {
        case .lua: LuaFace(receiver, world, job.scenario)
        default: SwiftFace(receiver, world, isHosted: options.face == .hosted)
        }
      }
      world.runHome {
        engine.performAsHome()
        job.finish()
      }
    }
  }

  /// Why the scenario cannot be run as asked; nil if it can.
  static func reasonNotToRun(_ scenario: Scenario, _ options: Options) -> String? {
    if options.face == .model || options.face == .cfModel {
      return Model.isKnown(scenario) ? nil : "the model does not know all of it"
    }
    for need in scenario.needs {
      switch need {
      case "performers": continue
      case "mainQueue" where options.kernel == .real: continue
      case "mainQueue": return "the simulated kernel has no libdispatch main queue"
      default: return "the ability '\(need)' is not known"
      }
    }
    return options.face == .lua ? LuaFace.reasonNotToRun(scenario) : nil
  }
}
