import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isJsonObject, type Json, type JsonObject } from '../../../src/domain/json/json.js'
import type { DescribedAnswer, Description, Operation } from './description.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** Says what an answer does that its description does not; undefined where it is as described. */
export type Judge = (operation: Operation, answer: Answer) => string | undefined

/** Judges answers strictly: a key that is not described is one too many, unless further keys are said to be welcome. */
export const judgeBy = (description: Description): Judge => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true })
  addFormats.default(ajv)
  ajv.addSchema(strict(description) as JsonObject, 'description')
  const compiled = new Map<string, ValidateFunction>()
  const validates = (path: readonly string[]): ValidateFunction => {
    const pointer = path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `description#/${encodeURI(pointer)}` })
    compiled.set(pointer, known)
    return known
  }
  const problemOf = (path: readonly string[], value: unknown): string | undefined => {
    const validate = validates(path)
    if (validate(value)) return undefined
    const [error] = validate.errors ?? []
    return `${error?.instancePath ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.params)}`
  }

  return ({ method, template, responses }, { status, headers, text }) => {
    const described = responses[String(status)]
    if (described === undefined) return `status ${status} is not described`
    const at = ['paths', template, method.toLowerCase(), 'responses', String(status)]

    const header = headersProblem(described, headers, (name, value) =>
      problemOf([...at, 'headers', name, 'schema'], value),
    )
    if (header !== undefined) return header

    const type = String(headers['content-type'] ?? '').split(';')[0]!
    const content = described.content[type]
    if (content === undefined) return `content type ${type} is not described`
    const schemaAt = [...at, 'content', type, 'schema']
    if (content.schema['contentSchema'] !== undefined)
      return linesOf(text).reduce<string | undefined>(
        (problem, line) => problem ?? problemOf([...schemaAt, 'contentSchema'], line),
        undefined,
      )
    return type === 'application/json' ? problemOf(schemaAt, JSON.parse(text)) : undefined
  }
}

const linesOf = (text: string): readonly unknown[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]))

/** Those that belong to HTTP and not to an endpoint. */
const OF_ALL = /^(tallytree-|x-|retry-after$|www-authenticate$)/

const headersProblem = (
  { headers: described = {} }: DescribedAnswer,
  headers: Answer['headers'],
  problemOf: (name: string, value: unknown) => string | undefined,
): string | undefined => {
  for (const [name, { required, schema }] of Object.entries(described)) {
    const value = headers[name.toLowerCase()]
    if (value === undefined && required === true) return `header ${name} is missing`
    if (value === undefined) continue
    const problem = problemOf(name, schema['type'] === 'integer' ? Number(value) : value)
    if (problem !== undefined) return `header ${name}: ${problem}`
  }
  const names = new Set(Object.keys(described).map((name) => name.toLowerCase()))
  const more = Object.keys(headers).find((name) => OF_ALL.test(name) && !names.has(name))
  return more === undefined ? undefined : `header ${more} is not described`
}

/** The same schemas, in which objects allow no keys beyond those they describe. */
const strict = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((item) => strict(item as Json))
  if (!isJsonObject(value)) return value
  const inner = Object.fromEntries<Json>(Object.entries(value).map(([key, one]) => [key, strict(one)]))
  return value['type'] === 'object' && isJsonObject(value['properties']) && !('additionalProperties' in value)
    ? { ...inner, additionalProperties: false }
    : inner
}
