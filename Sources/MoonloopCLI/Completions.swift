// Completions for shells, made from the tables of options.

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

  private static var options: [OptionSpec] { runCommand.options }
  private static let topLevel = "run help --help --version --generate-completion-script"

  private static var bash: String {
    let cases = options.filter { !$0.choices.isEmpty }.map {
      """
          \($0.name)) values="\($0.choices.joined(separator: " "))" ;;
      """
    }.joined(separator: "\n")
    let free = options.filter { $0.placeholder != nil && $0.choices.isEmpty }.map(\.name)
    return """
      # Completions of moonloop for bash.
      _moonloop() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
        COMPREPLY=()
        if ((COMP_CWORD == 1)); then
          COMPREPLY=($(compgen -W "\(topLevel)" -- "$word"))
          return
        fi
        local values=
        case $before in
          --generate-completion-script) values="bash zsh fish" ;;
      \(cases)
          \(free.joined(separator: " | "))) return ;;
        esac
        if [[ ${COMP_WORDS[1]} == run && $word == -* ]]; then
          values="\((options.map(\.name) + ["--help"]).joined(separator: " "))"
        fi
        if [[ $values ]]; then
          COMPREPLY=($(compgen -W "$values" -- "$word"))
          return
        fi
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$word"))
      }
      complete -F _moonloop moonloop

      """
  }

  private static var zsh: String {
    let lines = options.map { option in
      let values = option.choices.isEmpty ? " " : "(\(option.choices.joined(separator: " ")))"
      let value = option.placeholder.map { ":\($0.lowercased()):\(values)" } ?? ""
      return "        '\(option.name)[\(quoted(oneLine(option.help)))]\(value)' \\"
    }.joined(separator: "\n")
    return """
      #compdef moonloop
      # Completions of moonloop for zsh.
      _moonloop() {
        if ((CURRENT == 2)); then
          _values 'command' \(topLevel)
          return
        fi
        case $words[2] in
          --generate-completion-script) _values 'shell' bash zsh fish ;;
          help) _values 'command' run ;;
          run)
            shift words
            ((CURRENT--))
            _arguments -S \\
      \(lines)
              '(-h --help)'{-h,--help}'[Prints help.]' \\
              '1:script:_files -g "*.lua(-.)"' '*:argument:_files' ;;
        esac
      }
      _moonloop "$@"

      """
  }

  private static var fish: String {
    let lines = options.map { option in
      let name =
        option.name.hasPrefix("--")
        ? "-l \(option.name.dropFirst(2))" : "-s \(option.name.dropFirst())"
      let values =
        option.placeholder == nil
        ? "" : option.choices.isEmpty ? " -x" : " -x -a '\(option.choices.joined(separator: " "))'"
      return "complete -c moonloop -n '__fish_seen_subcommand_from run' "
        + "\(name)\(values) -d '\(quoted(oneLine(option.help)))'"
    }.joined(separator: "\n")
    return """
      # Completions of moonloop for fish.
      complete -c moonloop -n __fish_use_subcommand -f -a run -d 'Runs a script'
      complete -c moonloop -n __fish_use_subcommand -f -a help -d 'Tells more'
      complete -c moonloop -n __fish_use_subcommand -l version -d 'Prints the versions'
      complete -c moonloop -n __fish_use_subcommand -l generate-completion-script \\
        -x -a 'bash zsh fish'
      complete -c moonloop -s h -l help -d 'Prints help'
      \(lines)

      """
  }

  private static func oneLine(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: " ")
  }

  /// Fit for single quotes, and for the brackets of zsh.
  private static func quoted(_ text: String) -> String {
    text.filter { $0 != "'" && $0 != "[" && $0 != "]" }
  }
}
