import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isJsonObject, type Json } from '../../../src/kernel/json/json.js'
import type { ResponseSpec, Description } from './description.js'
import { waitsInVain } from './requests.js'
import type { Received, Sent } from './wire.js'

/** What is wrong with an answer, as the description has it; empty where nothing is. */
export type Judge = (sent: Sent, received: Received) => readonly string[]

export const judgeBy = (description: Description, secret: string): Judge => {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'api', ...(sealed(description as unknown as Json) as object) })
  const words = JSON.stringify(description)
  const compiled = new Map<string, ValidateFunction>()
  const validate = (pointer: string, value: unknown): readonly string[] => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` })
    compiled.set(pointer, known)
    return known(value)
      ? []
      : [`the body is not as described: ${ajv.errorsText(known.errors).slice(0, 200)} (${keysOf(known)})`]
  }

  return (sent, received) => {
    const { method } = sent.planned
    const template = templateOf(description, sent)
    const { status, headers } = received
    if (method === 'HEAD') return status < 500 ? [] : [`status ${status}`]
    // Refused by Node.js, before the request has an id.
    if (status === 431 && sent.path.length > LONG_PATH) return []
    const described = description.paths[template]?.[method.toLowerCase()]?.responses[status]
    const problems = [
      ...(status >= 500 && !isAwaited(sent, status) ? [`status ${status}`] : []),
      ...(isNamed(template, String(headers['x-request-id'])) ? [] : ['no x-request-id']),
      ...(received.bytes.includes(secret) && sent.planned.key !== 'administrator'
        ? ['tells of strangers']
        : []),
    ]
    if (isMisplaced(sent, status)) return problems
    if (described === undefined) return [...problems, `status ${status} is not described`]
    return [
      ...problems,
      ...headerProblems(described, received),
      ...bodyProblems(
        `/paths/${template.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${status}`,
        described,
        received,
        validate,
      ),
      ...(status === 422 ? quoted(sent, received, words) : []),
    ]
  }
}

/** Node.js reads at most 16 KiB of a request's head. */
const LONG_PATH = 15_000

/** Completions may be named by those who ask for them. */
const isNamed = (template: string, name: string): boolean =>
  (template.startsWith('/v1/') ? /^[\x21-\x7e]{1,128}$/ : /^[0-9a-f-]{36}$/).test(name)

const keysOf = ({ errors }: ValidateFunction): string => JSON.stringify(errors?.[0]?.params ?? {})

/** Nothing that is not described may stand in an answer where the members are. */
const sealed = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map((one) => sealed(one as Json))
  if (!isJsonObject(schema)) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, sealed(one)]))
  const isOpen = schema['type'] === 'object' && 'properties' in schema && !('additionalProperties' in schema)
  return isOpen ? { ...members, additionalProperties: false } : members
}

/** A read that was asked to wait for what has not been written, or a completion of an upstream that is not there. */
const isAwaited = ({ planned }: Sent, status: number): boolean =>
  (status === 503 && waitsInVain(planned)) ||
  (status > 500 && planned.operation.template === '/v1/chat/completions')

/** Where the path leads elsewhere, or the method does not exist, other answers than those described make sense. */
const isMisplaced = ({ planned, path }: Sent, status: number): boolean => {
  const { operation, method, prefix } = planned
  if (method === 'OPTIONS' && status === 204) return true
  const isElsewhere = !matches(operation.template, path) || (prefix !== '' && prefix !== '/traces')
  if (isElsewhere) return status < 500
  return status === 405 && method !== operation.method
}

/** The template that has the method: with another method, `/annotation_queues/stats` names a queue. */
const templateOf = ({ paths }: Description, { planned: { operation, method }, path }: Sent): string => {
  const hasMethod = (template: string) => paths[template]?.[method.toLowerCase()] !== undefined
  if (hasMethod(operation.template)) return operation.template
  const other = Object.keys(paths).find((template) => hasMethod(template) && matches(template, path))
  return other ?? operation.template
}

const matches = (template: string, path: string): boolean => {
  const pattern = template.replace(/\{\w+\}/g, '(?!\\.{1,2}(/|$))(?:[^/%?]|%[0-9A-Fa-f]{2})+')
  return new RegExp(`^(/traces)?${pattern}$`).test(path.split('?')[0]!)
}

const headerProblems = ({ headers: described }: ResponseSpec, { headers }: Received): readonly string[] => {
  const names = Object.keys(described).map((name) => name.toLowerCase())
  return [
    ...Object.entries(described)
      .filter(([name, { required }]) => required === true && headers[name.toLowerCase()] === undefined)
      .map(([name]) => `without its header ${name}`),
    ...Object.keys(headers)
      .filter((name) => /^(tallytree-|retry-after|www-auth)/.test(name) && !names.includes(name))
      .map((name) => `with a header that is not described: ${name}`),
  ]
}

const bodyProblems = (
  pointer: string,
  { content }: ResponseSpec,
  { headers, bytes }: Received,
  validate: (pointer: string, value: unknown) => readonly string[],
): readonly string[] => {
  const given = headers['content-type'] ?? ''
  const types = Object.entries(content)
  const [type = '', { schema } = { schema: {} }] =
    types.find(([type]) => type === given.split(';')[0]) ?? types[0] ?? []
  if (given.split(';')[0] !== type) return [`of the type ${given}, not ${type}`]
  const at = `${pointer}/content/${type.replace('/', '~1')}/schema`
  try {
    if (type === 'application/json') return validate(at, JSON.parse(bytes.toString()))
    if (!('contentSchema' in schema)) return []
    const lines = bytes.toString().split('\n').slice(0, -1)
    return lines.flatMap((line) => validate(`${at}/contentSchema`, JSON.parse(line)))
  } catch (error) {
    return [`of no JSON: ${String(error).slice(0, 100)}`]
  }
}

const LONG = 16

/** Values of the request that the answer's messages quote. */
const quoted = ({ bytes }: Sent, received: Received, words: string): readonly string[] => {
  const { detail } = JSON.parse(received.bytes.toString()) as { detail: readonly { msg: string }[] }
  const told = [...new Set(detail.map(({ msg }) => msg))].join('\n')
  return valuesIn(bytes)
    .filter((text) => text.length >= LONG && told.includes(text) && !words.includes(text))
    .map((text) => `quotes ${text.slice(0, 50)}`)
}

const valuesIn = (bytes: Buffer | undefined): readonly string[] => {
  const found: string[] = []
  try {
    JSON.parse(bytes?.toString() ?? '', (_, value: unknown) => {
      if (typeof value === 'string') found.push(value)
      return value
    })
  } catch {
    return []
  }
  return found
}
