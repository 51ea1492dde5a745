import type { Command } from "commander";

export function addHelp(program: Command): void {
  program
    .command("help")
    .summary("print the help of a command")
    .description("Prints the help of a command, or of all of moraine.")
    .argument("[command]", "name of a command")
    .action(async (name: string | undefined) => {
      const command = name === undefined ? program : program.commands.find((each) => each.name() === name);
      if (command !== undefined) return command.outputHelp();
      // Refused as it would be where it is given as a command, with the suggestion of a similar one.
      await program.parseAsync([name ?? ""], { from: "user" });
    });
}
