import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'

/**
 * Upstreams report errors in many forms. They are recognised by what the names of members mean, not by lists of
 * providers: `error_msg`, `errorMsg` and `Error-Msg` are one name.
 */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '')

/** Members that hold an error, if they hold anything. */
const ERROR = /(errors?|exceptions?|errorresponse|errorinfo)$|^(errs?|faults?|failure)$/
/** As an error, but also present in good answers, with a code of success. */
const RESULT = /^baseresp(onse)?$/
const MESSAGE = /(message|msg|faultstring|errortext)$/
const DETAIL = /(detail|details|description|reason|explanation)$|^(raw|pre)$/
/** Why an answer ended is no error. */
const NO_DETAIL = /(finish|stop)reason$/
const CODE =
  /^(code|status|statuscode|httpcode|httpstatus|httpstatuscode|retcode|resultcode|err(or)?(code|no))$/
const ERROR_CODE = /^err(or)?(code|no)$/
const TAG = /^(type|object|event|status|state|level)$/
const SUCCESS = /^(success|succeeded|ok)$/

/** Text that says that there is no error. */
const NOTHING = /^\s*(|0+|ok|none|null|nil|false|normal|no error|success(ful(ly)?)?|succeeded|成功)[\s.!]*$/i
/** The value of a tag of an error: `error`, `invalid_request_error`, `ThrottlingException`, `response.failed`. */
export const FAILED_EVENT = /(error|failed|failure|exception)s?$|^error|^(fail|fault)$/i
/** Reasons for the end of an answer that say that the upstream failed. */
const FAILED_REASON = /error|fail|exception|^abort|insufficient/i

/** Fronts of providers wrap the errors of others. */
const MAX_DEPTH = 6

type Member = readonly [name: string, value: Json]

/** Of an object or a list. What has more is no report of an error. */
const MOST_SEARCHED = 1000

const membersOf = (value: JsonObject): readonly Member[] => {
  const members: Member[] = []
  for (const name in value) if (members.push([plain(name), value[name]!]) === MOST_SEARCHED) break
  return members
}

const codeIn = (value: Json): number =>
  typeof value === 'number' || (typeof value === 'string' && /^\s*\d+\s*$/.test(value)) ? Number(value) : NaN

const isHttpError = (value: Json): boolean => codeIn(value) >= 400 && codeIn(value) < 600

const isFailureCode = (value: Json): boolean => {
  const code = codeIn(value)
  if (!Number.isNaN(code)) return code !== 0 && (code < 200 || code >= 300)
  return typeof value === 'string' && !NOTHING.test(value)
}

const isFalse = (value: Json): boolean => value === false || value === 'false'

/** Whether a member says anything: upstreams send empty errors with good answers. */
const isSomething = (value: Json): boolean => {
  if (typeof value === 'string') return !NOTHING.test(value)
  if (Array.isArray(value)) return value.some(isSomething)
  if (!isJsonObject(value)) return Boolean(value)
  const members = membersOf(value)
  const telling = members.filter(([name]) => CODE.test(name) || isWords(name) || ERROR.test(name))
  return (telling.length > 0 ? telling : members).some(([name, member]) =>
    CODE.test(name) ? isFailureCode(member) : isSomething(member),
  )
}

const isWords = (name: string): boolean =>
  name === 'title' || MESSAGE.test(name) || (DETAIL.test(name) && !NO_DETAIL.test(name))

/** Members that are an error wherever they are. */
const isErrorMember = ([name, value]: Member): boolean => {
  if (RESULT.test(name))
    return (
      isJsonObject(value) && membersOf(value).some(([key, code]) => CODE.test(key) && isFailureCode(code))
    )
  if (name === 'iserror') return value === true
  if (ERROR.test(name)) return isSomething(value)
  if (ERROR_CODE.test(name)) return isFailureCode(value)
  return (
    (SUCCESS.test(name) && isFalse(value)) ||
    (TAG.test(name) && typeof value === 'string' && FAILED_EVENT.test(value))
  )
}

/**
 * Whether an upstream's JSON reports an error. `maybe`: it has a message, but also says that it is something else, such as
 * an event of its own; it is an error if the answer does not go on after it.
 */
export const reportsError = (value: Json, depth = 0): 'yes' | 'maybe' | 'no' => {
  if (Array.isArray(value))
    return severest(value.slice(0, MOST_SEARCHED).map((item: Json) => reportsError(item, depth + 1)))
  if (!isJsonObject(value) || depth > MAX_DEPTH) return 'no'
  const members = membersOf(value)
  if (members.some(isErrorMember)) return 'yes'
  const hasWords = members.some(
    ([name, member]) => isWords(name) && typeof member === 'string' && isSomething(member),
  )
  const codes = members.filter(([name]) => CODE.test(name))
  const { choices } = value
  if (Array.isArray(choices) && choices.length > 0) {
    const isError = (hasWords && codes.some(([, code]) => isHttpError(code))) || choices.some(isFailedChoice)
    return isError || hasErrorInExtension(value) ? 'yes' : 'no'
  }
  if (
    codes.some(([name, code]) => isHttpError(code) || (hasWords && name !== 'status' && isFailureCode(code)))
  )
    return 'yes'
  if (hasWords) {
    const isTagged = members.some(
      ([name, tag]) => TAG.test(name) && typeof tag === 'string' && !tag.includes(':'),
    )
    return isTagged || depth > 0 ? 'maybe' : 'yes'
  }
  if (Array.isArray(choices)) return 'no'
  return severest(members.map(([, member]) => reportsError(member, depth + 1)))
}

const severest = (found: readonly ('yes' | 'maybe' | 'no')[]): 'yes' | 'maybe' | 'no' =>
  found.includes('yes') ? 'yes' : found.includes('maybe') ? 'maybe' : 'no'

const isFailedChoice = (choice: Json): boolean => {
  if (!isJsonObject(choice)) return false
  const { finish_reason, delta, message } = choice
  return (
    (typeof finish_reason === 'string' && FAILED_REASON.test(finish_reason)) ||
    [choice, delta, message].some((one) => isJsonObject(one) && isSomething(one['error'] ?? null))
  )
}

/** As `x_groq.error` of Groq. */
const hasErrorInExtension = (value: JsonObject): boolean =>
  Object.entries(value).some(
    ([name, member]) => name.startsWith('x_') && isJsonObject(member) && isSomething(member['error'] ?? null),
  )

export interface ErrorWords {
  readonly message?: string
  readonly type?: string
  readonly code?: string
  readonly param?: string
  /** A status of HTTP that the body names. */
  readonly status?: number
}

/** The message and codes of an upstream's error. Without a message it is the report as JSON, unless that is an answer with choices. */
export const errorWords = (value: Json): ErrorWords => {
  const words = wordsIn(value, 0)
  const isPart = isJsonObject(value) && Array.isArray(value['choices'])
  if (words.message !== undefined || isPart || !isSomething(value)) return words
  return { ...words, message: jsonText(value) }
}

const MOST_ERRORS = 20
/** Longer texts are not searched for JSON. */
const MOST_PARSED = 65_536

const wordsIn = (value: Json, depth: number): ErrorWords => {
  if (typeof value === 'string') return wordsInText(value, depth)
  if (depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) {
    const all = value.slice(0, MOST_ERRORS).map((item: Json) => wordsIn(item, depth + 1))
    return {
      ...all[0],
      ...joined(
        all.map(({ message }) => message),
        '; ',
      ),
    }
  }
  if (!isJsonObject(value)) return {}
  const members = membersOf(value)
  const ranked = members.filter(([name, member]) => rankOf(name) !== undefined && isSomething(member))
  const words = ranked
    .sort(([a], [b]) => rankOf(a)! - rankOf(b)!)
    .map(([, member]) => wordsIn(member, depth + 1))
  const inner = words.reduce<ErrorWords>((all, one) => ({ ...one, ...all }), {})
  const message = joined(
    words.map((one) => one.message),
    ': ',
  )
  const own = factsIn(members)
  if (message.message !== undefined)
    return { ...own, ...inner, ...message, ...prefixed(value, message.message) }
  const nested = Object.values(value)
    .filter((member) => typeof member === 'object')
    .map((member) => wordsIn(member, depth + 1))
    .find((one) => one.message !== undefined)
  return { ...own, ...inner, ...nested }
}

/** The order in which the texts of one object are quoted. Undefined for members that are none. */
const rankOf = (name: string): number | undefined => {
  if (ERROR.test(name) || RESULT.test(name) || name === 'metadata') return 1
  if (name === 'title') return 0
  if (MESSAGE.test(name)) return 2
  return isWords(name) ? 3 : undefined
}

/** Where the mistake is, of problems such as FastAPI's. */
const prefixed = ({ loc }: JsonObject, message: string): ErrorWords =>
  Array.isArray(loc) ? { message: `${loc.join('.')}: ${message}` } : {}

/** A text that repeats another one is left out. */
const joined = (texts: readonly (string | undefined)[], separator: string): ErrorWords => {
  const said: string[] = []
  for (const text of texts) {
    if (text === undefined || said.some((known) => known.includes(text))) continue
    const place = said.findIndex((known) => text.includes(known))
    if (place < 0) said.push(text)
    else said[place] = text
  }
  return said.length === 0 ? {} : { message: said.join(separator) }
}

const wordsInText = (text: string, depth: number): ErrorWords => {
  const trimmed = text.trim()
  if (/^[{[]/.test(trimmed) && trimmed.length <= MOST_PARSED && depth <= MAX_DEPTH)
    try {
      const inner = wordsIn(parseJson(trimmed), depth + 1)
      if (inner.message !== undefined) return inner
    } catch {
      // It is no JSON, but a text that begins as JSON does.
    }
  return trimmed === '' ? {} : { message: trimmed }
}

const factsIn = (members: readonly Member[]): ErrorWords => {
  const textOf = (pattern: RegExp) =>
    members.find(([name, value]) => pattern.test(name) && typeof value === 'string' && value !== '')?.[1]
  const facts = { type: textOf(/^(error)?type$/), code: textOf(/^(error)?code$/), param: textOf(/^param$/) }
  const status = members.find(([name, value]) => CODE.test(name) && isHttpError(value))?.[1]
  return {
    ...(Object.fromEntries(Object.entries(facts).filter(([, text]) => text !== undefined)) as ErrorWords),
    ...(status === undefined ? {} : { status: codeIn(status) }),
  }
}

/**
 * The report of an error that is no JSON: events, XML and pages as JSON, other text as it is. Undefined for a page
 * without a title, and for bytes that are no text.
 */
export const reportInText = (text: string): Json | undefined => {
  const trimmed = text.trim()
  if (trimmed === '' || UNPRINTABLE.test(trimmed)) return undefined
  if (trimmed.startsWith('<')) return elementsIn(trimmed.slice(0, MOST_PARSED))
  const data = /^data:(.*(?:\r?\ndata:.*)*)/m.exec(trimmed)?.[1]?.replace(/\r?\ndata:/g, '\n')
  return /^(data|event|id|retry)?:/.test(trimmed) ? data?.trim() : trimmed
}

// eslint-disable-next-line no-control-regex -- Control characters and U+FFFD show that the bytes are no text.
const UNPRINTABLE = /[\u0000-\u0008\u000e-\u001f\ufffd]/

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#39': "'",
  amp: '&',
}

/** The texts of elements by their names, without prefixes: what says an error in JSON says it in XML too. */
const elementsIn = (markup: string): Json | undefined => {
  const texts: Record<string, string> = {}
  const elements = markup.matchAll(
    /<(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[([^\]<]*)\]\]>|([^<]*))\s*<\//g,
  )
  for (const [, name = '', quoted, text = ''] of elements) {
    const words = quoted ?? text.replace(/&(#?\w{1,5});/g, (entity, key: string) => ENTITIES[key] ?? entity)
    if (words.trim() !== '' && rankOf(plain(name)) !== undefined) texts[name] ??= words.trim()
  }
  return Object.keys(texts).length === 0 ? undefined : texts
}
