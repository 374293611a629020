import * as E from 'fp-ts/lib/Either.js'
import type { Problem } from '../../../kernel/codec/problem.js'
import { headerProblems, headerSecrets, renderHeaders } from '../../secrets/static-headers.js'
import type { UpstreamContent } from './content.js'

type ExtrasTemplates = Pick<UpstreamContent, 'headers' | 'query'>

/** The headers and the query that an upstream gets with each request. */
export interface Extras {
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

/** The names of the secrets in the headers and the query of an upstream. */
export const secretsInExtras = ({ headers, query }: ExtrasTemplates): readonly string[] => [
  ...new Set([...headerSecrets(headers), ...headerSecrets(query)]),
]

/** Problems of the headers and the query; values are not quoted. */
export const extrasProblems = (
  { headers, query, secret }: ExtrasTemplates & { readonly secret: string | null },
  vendor: string,
  unusable: ReadonlyMap<string, string>,
): readonly Problem[] => {
  const of = (given: ExtrasTemplates['headers']) =>
    headerProblems({ headers: given, access_token: null }, vendor, unusable)
  const isTwice =
    secret !== null && Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization')
  return [
    ...of(headers),
    ...of(query).map((problem) => ({ ...problem, loc: ['query', ...problem.loc.slice(1)] })),
    ...(isTwice
      ? [
          {
            loc: ['headers', 'authorization'],
            type: 'value_error',
            msg: 'This header is set from the secret: use one of them',
          },
        ]
      : []),
  ]
}

/** With the values of secrets; undefined if one is missing or cannot be sent. */
export const renderExtras = (
  { headers, query }: ExtrasTemplates,
  valueOf: (secret: string) => string | undefined,
): Extras | undefined => {
  const [rendered, queried] = [renderHeaders(headers, valueOf), renderHeaders(query, valueOf)]
  return E.isRight(rendered) && E.isRight(queried)
    ? { headers: rendered.right, query: queried.right }
    : undefined
}
