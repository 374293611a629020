import { readFileSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { decode } from '../../kernel/codec/codec.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { BEARER_EXPECTED, isBearer } from '../../domain/secrets/bearer.js'
import { upstreamProblems, nameConflict } from '../../domain/gateway/upstreams/checks.js'
import { noUpstreams, type Upstream, type Upstreams } from '../../domain/gateway/upstreams/directory.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { closed } from '../../kernel/codec/struct.js'
import { textLike } from '../../kernel/codec/text.js'
import { extrasProblems, secretsInExtras } from '../../domain/gateway/upstreams/extras.js'
import { upstreamFields } from '../../domain/gateway/upstreams/content.js'

const { secret: _, ...optional } = upstreamFields.optional

const configuredUpstream = closed('ConfiguredUpstream', {
  says: "An upstream from the operator's file. Its address is trusted.",
  required: upstreamFields.required,
  optional: {
    ...optional,
    /** The environment variable with the bearer token. */
    api_key_env: nullable(
      textLike(
        'variable',
        /^[A-Za-z_][A-Za-z0-9_]*$/,
        'String should be the name of an environment variable, not its value',
      ),
    ),
  },
})

/** The operator's upstreams: the JSON file `TALLYTREE_UPSTREAMS_FILE`. */
const upstreamsFile = closed('UpstreamsFile', { required: { upstreams: arrayOf(configuredUpstream) } })
type UpstreamsFile = t.TypeOf<typeof upstreamsFile>

/** The upstreams of the operator's file, with their credentials. */
export interface ConfiguredUpstreams {
  readonly upstreams: Upstreams
  /** Bearer tokens by upstream id. */
  readonly credentials: ReadonlyMap<string, string>
}

interface UpstreamsConfig {
  readonly upstreams: {
    /** The operator's JSON file. */
    readonly file: string | null
    /** Looks up an environment variable that the file names. */
    readonly variable: (name: string) => string | undefined
  }
}

type UpstreamInFile = UpstreamsFile['upstreams'][number]

/** @throws OperatorError that names the file, the path in it and the rule; it quotes no value, which may be a credential */
export const configuredUpstreams = ({
  upstreams: { file, variable },
}: UpstreamsConfig): ConfiguredUpstreams => {
  if (file === null) return { upstreams: noUpstreams, credentials: new Map() }
  const wrong = (why: string): OperatorError => new OperatorError(`TALLYTREE_UPSTREAMS_FILE: ${file}: ${why}`)
  const decoded = decode(upstreamsFile)(jsonIn(file, wrong))
  if (E.isLeft(decoded))
    throw wrong(decoded.left.map(({ loc, msg }) => `${loc.join('.') || 'whole file'}: ${msg}`).join('; '))

  let upstreams: Upstreams = noUpstreams
  const credentials = new Map<string, string>()
  for (const [place, { api_key_env, ...given }] of decoded.right.upstreams.entries()) {
    const upstream = upstreamOf(given)
    const problems = upstreamProblems(upstream.content).map(({ loc, msg }) => `.${loc.join('.')}: ${msg}`)
    const unset = secretsInExtras(given).filter((name) => (variable(name) ?? '') === '')
    const unusable = new Map(unset.map((name) => [name, 'the environment variable is not set']))
    for (const { loc, msg } of extrasProblems({ ...given, secret: api_key_env }, '', unusable))
      problems.push(`.${loc.join('.')}: ${msg}`)
    const taken = upstreams.has(upstream.id)
      ? `An upstream named ${given.name} already exists.`
      : nameConflict(upstreams, upstream)
    if (taken !== undefined) problems.push(`: ${taken}`)
    const credential = api_key_env === null ? undefined : variable(api_key_env)
    if (api_key_env !== null && (credential === undefined || credential === ''))
      problems.push(
        `.api_key_env: environment variable ${api_key_env} is not set; set it or omit api_key_env`,
      )
    else if (credential !== undefined && !isBearer(credential))
      problems.push(
        `.api_key_env: environment variable ${api_key_env} is not valid in a header: it should be ${BEARER_EXPECTED}`,
      )
    if (problems.length > 0) throw wrong(problems.map((one) => `upstreams.${place}${one}`).join('; '))
    upstreams = new Map([...upstreams, [upstream.id, upstream]])
    if (credential !== undefined) credentials.set(upstream.id, credential)
  }
  return { upstreams, credentials }
}

/** The id comes from the name, so it is the same at the next start. Ids in the log have no such prefix. */
const upstreamOf = (given: Omit<UpstreamInFile, 'api_key_env'>): Upstream => ({
  id: `file:${given.name}`,
  team: null,
  content: { ...given, secret: null },
  isConfigured: true,
})

const jsonIn = (file: string, wrong: (why: string) => OperatorError): unknown => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw wrong(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw wrong('is not JSON')
  }
}
