import { isJsonObject, type Json } from '../../src/domain/json/json.js'
import type { Answer, Judge } from '../support/described/answers.js'
import type { Ask } from './ask.js'
import { UNREACHED } from './headers.js'
import { CANARY } from './spoil.js'

/** What is wrong with the answer to a request; undefined where nothing is. */
export const faultOf = (judge: Judge, words: string) => {
  const isOwnWord = (value: string) => words.includes(JSON.stringify(value).slice(1, -1))

  return (ask: Ask, answer: Answer): string | undefined => {
    const { status, headers, text } = answer
    if (status >= 500 && !(status === 503 && waitsForEver(ask))) return `status ${status}`
    if (headers['x-request-id'] === undefined) return 'no x-request-id'
    if (ask.kind === 'key' && !ask.operation.isOpen && status !== 401) return `${status} without a valid key`
    if (ask.kind === 'outsider') {
      const problem = leakOf(ask, answer)
      if (problem !== undefined) return problem
    }
    if (status === 422) {
      const quoted = quotedIn(text, ask, isOwnWord)
      if (quoted !== undefined) return `quotes what was sent: ${quoted}`
    }
    if (ask.method === 'HEAD') return undefined
    // Where method or path were changed, there may be no such operation.
    if ((ask.kind === 'method' || ask.kind === 'path') && isUnrouted(answer)) return undefined
    return ask.method === ask.operation.method ? judge(ask.operation, answer) : undefined
  }
}

/** A position that nobody reaches is waited for in vain, where stale answers are of no use. */
const waitsForEver = ({ headers }: Ask): boolean => headers['Tallytree-Min-Position'] === UNREACHED

const isUnrouted = ({ status, text }: Answer): boolean =>
  status === 404 && text.includes('There is no such endpoint')

/** A request that names only projects of others is refused as a whole, or element by element. */
const leakOf = ({ operation, said }: Ask, { status, headers }: Answer): string | undefined => {
  const isOfProject = operation.template.includes('{project}') || namesProject(said)
  if (!isOfProject || status !== 200 || headers['tallytree-refused'] !== undefined) return undefined
  return 'answered somebody who has no access to the project'
}

const namesProject = (said: Json | undefined): boolean => {
  if (Array.isArray(said)) return said.some((item) => namesProject(item as Json))
  if (!isJsonObject(said)) return false
  return typeof said['project_id'] === 'string' || ENVELOPES.some((key) => namesProject(said[key]))
}

/** Where the service looks for a project; elsewhere, such as in a payload, the key means nothing. */
const ENVELOPES = ['start', 'end', 'obj', 'table', 'batch', 'req']

const SHORT = 8

const quotedIn = (text: string, { said }: Ask, isOwnWord: (value: string) => boolean): string | undefined => {
  const keys = new Set<string>()
  const values = new Set<string>()
  gather(said, keys, values)
  const { detail } = JSON.parse(text) as { detail: readonly { loc: readonly unknown[]; msg: string }[] }
  return [...values].find(
    (value) =>
      (value.length >= SHORT || value.includes(CANARY)) &&
      !isOwnWord(value) &&
      detail.some(
        ({ loc, msg }) => msg.includes(value) || (!keys.has(value) && loc.some((part) => part === value)),
      ),
  )
}

const gather = (value: Json | undefined, keys: Set<string>, values: Set<string>): void => {
  if (typeof value === 'string') values.add(value)
  else if (Array.isArray(value)) for (const item of value.slice(0, 50)) gather(item as Json, keys, values)
  else if (isJsonObject(value))
    for (const [key, member] of Object.entries(value)) {
      keys.add(key)
      gather(member, keys, values)
    }
}
