import {
  type MacroId,
  type MacroImplementation as ImplementationValue,
  type MacroParameter as ParameterValue,
  type SchemaId,
  AlreadyExistsError,
  InvalidArgumentError,
  NotFoundError,
} from "@moraine/codec";
import type { MacroType } from "../model/change.js";
import { macroTypeOf } from "../model/content.js";
import type { Draft } from "../model/draft.js";
import { quoted } from "../model/error-text.js";
import {
  checkArray,
  checkId,
  checkKnown,
  checkName,
  checkOneOf,
  checkOptionalString,
  checkText,
  type Names,
  orDefault,
} from "./arguments.js";
import { requireSchema } from "./require.js";

export interface MacroParameter {
  readonly parameterName: string;
  /** Default `unknown`: any type. */
  readonly parameterType?: string;
  /** SQL text of the default value. */
  readonly defaultValue?: string;
  /** Default `unknown`. */
  readonly defaultValueType?: string;
}

const macroParameterNames: Names<MacroParameter> = {
  parameterName: true,
  parameterType: true,
  defaultValue: true,
  defaultValueType: true,
};

/** One overload of a macro. */
export interface MacroImplementation {
  readonly dialect: string;
  readonly sql: string;
  readonly macroType: MacroType;
  readonly parameters?: readonly MacroParameter[];
}

const macroImplementationNames: Names<MacroImplementation> = {
  dialect: true,
  sql: true,
  macroType: true,
  parameters: true,
};

export interface CreateMacroArguments {
  readonly schema: SchemaId;
  /** Free among the schema's macros of the same type. */
  readonly name: string;
  /** At least one, all of one type. */
  readonly implementations: readonly MacroImplementation[];
}

const createMacroNames: Names<CreateMacroArguments> = { schema: true, name: true, implementations: true };

export interface DropMacroArguments {
  readonly macro: MacroId;
}

const dropMacroNames: Names<DropMacroArguments> = { macro: true };

/**
 * Creates a macro with all its overloads. `already_exists` when the schema has a macro of that name and type;
 * `invalid_argument` without an implementation, or with some of each type.
 */
export function createMacro(draft: Draft, args: CreateMacroArguments): MacroId {
  checkKnown(args, createMacroNames, "arguments");
  const schema = requireSchema(draft, checkId(args.schema, "schema"));
  const name = checkName(args.name, "name");
  const implementations = checkArray(args.implementations, "implementations").map(implementationValue);
  const macroType = oneType(implementations);
  const holder = draft.macrosLike(schema.schemaId, name, macroType)[0];
  if (holder !== undefined) {
    throw new AlreadyExistsError(`a ${macroType} macro ${quoted(holder.macroName)} in schema ${schema.schemaId}`);
  }
  const macroId = draft.allocateCatalogId();
  draft.put("macro", [macroId], {
    macroId,
    beginSnapshot: draft.snapshotId,
    endSnapshot: undefined,
    schemaId: schema.schemaId,
    macroName: name,
    implementations,
  });
  draft.record({ op: "create_macro", macroType, schemaId: schema.schemaId, schemaName: schema.schemaName, name });
  return macroId as MacroId;
}

export function dropMacro(draft: Draft, args: DropMacroArguments): void {
  const macroId = checkId(checkKnown(args, dropMacroNames, "arguments").macro, "macro");
  const macro = draft.get("macro", macroId);
  if (macro === undefined) throw new NotFoundError(`macro ${macroId}`);
  draft.remove("macro", [macroId]);
  draft.record({ op: "drop_macro", macroType: macroTypeOf(macro), macroId });
}

function oneType(implementations: readonly ImplementationValue[]): MacroType {
  const types = new Set(implementations.map((implementation) => implementation.macroType));
  if (types.size !== 1) {
    const found = types.size === 0 ? "no implementation" : "scalar and table implementations";
    throw new InvalidArgumentError(`implementations: a macro was given ${found}`, {
      remedy: "Pass at least one implementation, all of one type; make two macros for two types.",
    });
  }
  return types.has("table") ? "table" : "scalar";
}

function implementationValue(implementation: MacroImplementation, at: number): ImplementationValue {
  const argument = `implementations[${at}]`;
  checkKnown(implementation, macroImplementationNames, argument);
  return {
    implId: BigInt(at),
    dialect: checkText(implementation.dialect, `${argument}.dialect`),
    sql: checkText(implementation.sql, `${argument}.sql`),
    macroType: checkOneOf(implementation.macroType, ["scalar", "table"], `${argument}.macroType`),
    parameters: checkArray(orDefault(implementation.parameters, []), `${argument}.parameters`).map((parameter, index) =>
      parameterValue(parameter, index, `${argument}.parameters[${index}]`),
    ),
  };
}

function parameterValue(parameter: MacroParameter, at: number, argument: string): ParameterValue {
  checkKnown(parameter, macroParameterNames, argument);
  return {
    columnId: BigInt(at),
    parameterName: checkName(parameter.parameterName, `${argument}.parameterName`),
    parameterType: checkText(orDefault(parameter.parameterType, "unknown"), `${argument}.parameterType`),
    defaultValue: checkOptionalString(parameter.defaultValue, `${argument}.defaultValue`),
    defaultValueType: checkText(orDefault(parameter.defaultValueType, "unknown"), `${argument}.defaultValueType`),
  };
}
