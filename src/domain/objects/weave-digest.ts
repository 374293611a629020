import { parseJson } from '../../kernel/json/parse.js'
import { pythonText, pythonTextInSteps } from '../../kernel/json/python-text.js'
import type { Json } from '../../kernel/json/json.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { REF_SCHEME } from '../refs/ref.js'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789XY'

/**
 * The digest that clients use for objects, rows and files: SHA-256 in unpadded base64url with `-` as X and `_` as Y,
 * 43 letters and digits.
 */
export const weaveDigest = (hex: ReturnType<Sha256>): string => {
  let digest = ''
  for (let at = 0; at < hex.length; at += 6) {
    const three = Number.parseInt(hex.slice(at, at + 6).padEnd(6, '0'), 16)
    digest +=
      LETTERS[three >> 18]! +
      LETTERS[(three >> 12) & 63]! +
      LETTERS[(three >> 6) & 63]! +
      LETTERS[three & 63]!
  }
  return digest.slice(0, Math.ceil((hex.length * 2) / 3))
}

/** The digest of an object's or a row's content, as Python `weave` computes it. */
export const contentDigest = (sha256: Sha256, value: Json): string => weaveDigest(sha256(weaveText(value)))

/** The text that the digest is of: Python's JSON with sorted keys and internal references. */
export const weaveText = (value: Json): string => pythonText(value, PYTHON)

const PYTHON = { sortKeys: true, replace: (text: string) => withInternalRefs(text, 0) }

/** As {@link weaveText}, in steps that let other work run in between. */
export const weaveTextInSteps = (value: Json): Promise<string> => pythonTextInSteps(value, PYTHON)

/** As {@link contentDigest}, in steps that let other work run in between. */
export const contentDigestInSteps = async (sha256: Sha256, value: Json): Promise<string> =>
  weaveDigest(sha256(await weaveTextInSteps(value)))

/** A project's id in internal references, which digests are computed with. */
export const internalProjectId = (projectId: string): string =>
  // A slash ends the id in a reference.
  Buffer.from(projectId).toString('base64').replaceAll('/', '_')

/** JSON in a string of JSON is searched for references to this depth. */
const MAX_EMBEDDED = 8

const withInternalRefs = (text: string, depth: number): string => {
  if (text.startsWith(REF_SCHEME)) {
    const [entity, project, ...rest] = text.slice(REF_SCHEME.length).split('/')
    return rest.length === 0
      ? text
      : `weave-trace-internal:///${internalProjectId(`${entity}/${project}`)}/${rest.join('/')}`
  }
  return depth < MAX_EMBEDDED && text.includes(REF_SCHEME) ? withEmbeddedRefs(text, depth + 1) : text
}

/** Python `weave` writes JSON in a string again if it has references. */
const withEmbeddedRefs = (text: string, depth: number): string => {
  let value: Json
  try {
    value = parseJson(text)
  } catch {
    return text
  }
  const written = pythonText(value, {
    sortKeys: false,
    replace: (embedded) => withInternalRefs(embedded, depth),
  })
  return written === pythonText(value, { sortKeys: false }) ? text : written
}
