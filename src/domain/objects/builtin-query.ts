import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { json, oneOf, string } from '../../kernel/codec/leaves.js'
import type { AnyCodec } from '../../kernel/codec/codec.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { byForm, flag, keepingDigits, model, tupleOf } from './builtin-model.js'

/** A model with one field, which is named by its alias or, in Python, by its name. */
const operation = (name: string, alias: string, field: AnyCodec, inPython = `${alias.slice(1)}_`) => ({
  keys: [alias, inPython],
  codec: model(name, { required: { [alias]: field }, names: { [inPython]: alias } }),
})

type Operation = ReturnType<typeof operation>

const oneOfThem = (name: string, operations: () => readonly Operation[]) =>
  byForm(
    name,
    (u) =>
      isJsonObject(u)
        ? operations().find(({ keys }) => keys.some((key) => Object.hasOwn(u, key)))?.codec
        : undefined,
    `Input should be an object with one of ${name}`,
  )

const operand = oneOfThem('the operands and operators of queries', () => [...OPERANDS, ...OPERATORS])
const operands = arrayOf(operand)
const pair = tupleOf(operand, operand)

const literal: AnyCodec = byForm(
  'Literal',
  (u: Json) =>
    Array.isArray(u) ? arrayOf(literalModel()) : isJsonObject(u) ? recordOf(literalModel()) : json,
  'Input should be a literal',
)
const LITERAL = operation('LiteralOperation', '$literal', literal)
const literalOperation = keepingDigits(LITERAL.codec)
const literalModel = () => literalOperation

const convertSpec = model('ConvertSpec', {
  required: { input: operand, to: oneOf('double', 'string', 'int', 'bool', 'exists') },
})
const containsSpec = model('ContainsSpec', {
  required: { input: operand, substr: operand },
  optional: { case_insensitive: withDefault(nullable(flag), false) },
})

const OPERANDS: readonly Operation[] = [
  { ...LITERAL, codec: literalOperation },
  operation('GetFieldOperator', '$getField', string, 'get_field_'),
  operation('ConvertOperation', '$convert', convertSpec),
  operation('SizeOperation', '$size', operand),
]

const OPERATORS: readonly Operation[] = [
  operation('AndOperation', '$and', operands),
  operation('OrOperation', '$or', operands),
  operation('NotOperation', '$not', tupleOf(operand)),
  operation('EqOperation', '$eq', pair),
  operation('GtOperation', '$gt', pair),
  operation('LtOperation', '$lt', pair),
  operation('GteOperation', '$gte', pair),
  operation('LteOperation', '$lte', pair),
  operation('InOperation', '$in', tupleOf(operand, operands)),
  operation('ContainsOperation', '$contains', containsSpec),
]

/** The query of calls that a saved view stores. */
export const storedQuery = model('Query', {
  isClosed: true,
  required: { $expr: oneOfThem('the operators of queries', () => OPERATORS) },
  names: { expr_: '$expr' },
})

const SERVER_MODEL = ['BaseModelStrict', 'BaseModel']
const texts = nullable(arrayOf(string))

export const storedSort = model('SortBy', {
  bases: SERVER_MODEL,
  required: { field: string, direction: oneOf('asc', 'desc') },
})

export const storedFilter = model('CallsFilter', {
  bases: SERVER_MODEL,
  optional: {
    op_names: texts,
    input_refs: texts,
    output_refs: texts,
    parent_ids: texts,
    trace_ids: texts,
    call_ids: texts,
    thread_ids: texts,
    turn_ids: texts,
    trace_roots_only: nullable(flag),
    wb_user_ids: texts,
    wb_run_ids: texts,
  },
})
