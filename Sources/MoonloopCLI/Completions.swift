// Shell completions, made from the tables of options.

/// Scripts for bash, zsh and fish.
enum Completions {
  static func print(for shell: String?) throws(UsageError) -> Int32 {
    switch shell {
    case "bash": return Help.print(bash)
    case "zsh": return Help.print(zsh)
    case "fish": return Help.print(fish)
    default:
      let given = shell.map { ", got '\($0)'" } ?? ""
      throw UsageError(
        message: "--generate-completion-script: must be one of bash, zsh, fish\(given)")
    }
  }

  private static let topLevel = Program.names.joined(separator: " ")

  /// The spellings of an option to offer.
  private static func spellings(_ option: OptionSpec) -> [String] {
    option.isNegatable ? [option.name, "--no-" + option.name.dropFirst(2)] : [option.name]
  }

  /// Those and the short ones, after which a shell offers the values too.
  private static func allSpellings(_ option: OptionSpec) -> [String] {
    spellings(option) + option.names.dropFirst()
  }

  private static func bash(_ command: CommandSpec) -> String {
    let cases = command.options.filter { !$0.choices.isEmpty }.map {
      """
              \($0.names.joined(separator: " | "))) values="\($0.choices.joined(separator: " "))" ;;

      """
    }.joined()
    let free = command.options.filter {
      $0.placeholder != nil && $0.choices.isEmpty && !$0.takesFile
    }.flatMap(\.names)
    let files = command.options.filter(\.takesFile).flatMap(\.names)
    let fileCase = files.isEmpty ? "" : "        \(files.joined(separator: " | "))) ;;\n"
    let freeCase = free.isEmpty ? "" : "        \(free.joined(separator: " | "))) return ;;\n"
    let names = command.options.filter { $0.name != "--help" }.flatMap(spellings) + ["--help"]
    let choices = command.choices.joined(separator: " ")
    let operands =
      command.takesProgram
      ? "else values=$(\(runningNames)); exact=1; "
      : choices.isEmpty ? "" : "elif ((COMP_CWORD == 2)); then values=\"\(choices)\"; "
    return """
          \(command.name.isEmpty ? "-*" : command.name))
            case $before in
      \(cases)\(freeCase)\(fileCase)\
              *) if [[ $word == -* ]]; then values="\(names.joined(separator: " "))"
                \(operands)fi ;;
            esac
            ;;
      """
  }

  private static var bash: String {
    """
    # Completions of moonloop for bash.
    _moonloop() {
      local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
      COMPREPLY=()
      # Readline takes --option=value for three words.
      if [[ $word == = ]]; then word=
      elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
      if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -W "\(topLevel)" -- "$word") $(compgen -f -- "$word"))
        return
      fi
      local values= exact=
      case ${COMP_WORDS[1]} in
        help)
          # LOOP:NAME too is three words.
          printf -v word %s "${COMP_WORDS[@]:2}"
          COMPREPLY=($(compgen -W "$(\(referenceNames))" -- "$word"))
          COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
          return ;;
    \((Program.commands + [interpreter]).map(bash).joined(separator: "\n"))
      esac
      if [[ $values$exact ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
        return
      fi
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$word"))
    }
    complete -F _moonloop moonloop

    """
  }

  private static func zsh(_ command: CommandSpec) -> String {
    let lines = command.options.filter { $0.name != "--help" }.flatMap { option in
      let values =
        option.takesFile
        ? "_files"
        : option.choices.isEmpty ? " " : "(\(option.choices.joined(separator: " ")))"
      let value = option.placeholder.map { ":\($0.lowercased()):\(values)" } ?? ""
      return allSpellings(option).map {
        "        '\(option.repeats ? "*" : "")\($0)[\(quoted(oneLine(option.help)))]\(value)' \\\n"
      }
    }.joined()
    let operands =
      command.takesProgram
      ? "'1:program:{ compadd -- ${(f)\"$(\(runningNames))\"} }'"
      : command.choices.isEmpty
        ? "'1:script:_files -g \"*.lua(-.)\"' '*:argument:_files'"
        : "'1:first:(\(command.choices.joined(separator: " ")))' '2:name:'"
    return """
          \(command.name.isEmpty ? "-*" : command.name))
            \(command.name.isEmpty ? "" : "shift words; ((CURRENT--))")
            _arguments -S \\
      \(lines)\
              '(-h --help)'{-h,--help}'[Show help.]' \\
              \(operands) ;;
      """
  }

  private static var zsh: String {
    """
    #compdef moonloop
    # Completions of moonloop for zsh.
    _moonloop() {
      if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
        _values 'command' \(topLevel)
        _files -g "*.lua(-.)"
        return
      fi
      case $words[2] in
        help) compadd -- ${(f)"$(\(referenceNames))"} ;;
    \((Program.commands + [interpreter]).map(zsh).joined(separator: "\n"))
      esac
    }
    _moonloop "$@"

    """
  }

  private static func fish(_ command: CommandSpec) -> String {
    command.options.filter { $0.name != "--help" }.flatMap { option in
      let values =
        option.placeholder == nil
        ? ""
        : option.takesFile
          ? " -r"
          : option.choices.isEmpty ? " -x" : " -x -a '\(option.choices.joined(separator: " "))'"
      return allSpellings(option).map { spelling in
        let name =
          spelling.hasPrefix("--")
          ? "-l \(spelling.dropFirst(2))"
          : spelling.utf8.count == 2 ? "-s \(spelling.dropFirst())" : "-o \(spelling.dropFirst())"
        let place =
          command.name.isEmpty
          ? "__fish_use_subcommand" : "'__fish_seen_subcommand_from \(command.name)'"
        return "complete -c moonloop -n \(place) "
          + "\(name)\(values) -d '\(quoted(oneLine(option.help)))'"
      }
    }.joined(separator: "\n")
  }

  private static var fish: String {
    let commands = Program.commands.map {
      "complete -c moonloop -n __fish_use_subcommand -f -a \($0.name) -d '\(quoted($0.summary))'"
    }
    let choices = Program.commands.filter { !$0.choices.isEmpty }.map {
      "complete -c moonloop -n '__fish_seen_subcommand_from \($0.name)' -f "
        + "-a '\($0.choices.joined(separator: " "))'"
    }
    let takers = Program.commands.filter(\.takesProgram).map(\.name).joined(separator: " ")
    return """
      # Completions of moonloop for fish.
      \(commands.joined(separator: "\n"))
      complete -c moonloop -n __fish_use_subcommand -f -a help -d 'Show help for a command'
      complete -c moonloop -n '__fish_seen_subcommand_from help' -f -a '(\(referenceNames))'
      complete -c moonloop -s h -l help -d 'Show help'
      \((Program.commands + [interpreter]).map(fish).joined(separator: "\n"))
      \(choices.joined(separator: "\n"))
      complete -c moonloop -n '__fish_seen_subcommand_from \(takers)' -f -a '(\(runningNames))'

      """
  }

  /// A shell's command that lists the programs to attach to.
  private static let runningNames = "moonloop ps --names 2>/dev/null"

  /// A shell's command that lists what `moonloop help` explains.
  private static let referenceNames = "moonloop help --names 2>/dev/null"

  private static func oneLine(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: " ")
  }

  /// Escaped for single quotes and for the brackets of zsh.
  private static func quoted(_ text: String) -> String {
    text.filter { $0 != "'" && $0 != "[" && $0 != "]" }
  }
}
