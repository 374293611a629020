import createClient from 'openapi-fetch'
import type { components, paths } from '../schema.d.ts'

export type Schemas = components['schemas']

/** The grammar of conditions is recursive, which the client's types cannot compare. */
export type Automation = Omit<Schemas['Automation'], 'query'> & { readonly query?: unknown }
export type SignedIn = Schemas['SignedIn']

/** A field of a request that was refused. */
interface FieldProblem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly ctx?: { readonly start?: number; readonly end?: number; readonly suggestion?: string }
}

export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    readonly status: number,
    message: string,
    readonly requestId: string,
    readonly retryAfter: number | undefined,
    readonly problems: readonly FieldProblem[] = [],
    readonly body?: unknown,
  ) {
    super(message)
  }
}

const errorOf = async (response: Response): Promise<ApiError> => {
  const text = await response.text().catch(() => '')
  let body: { reason?: string; detail?: readonly FieldProblem[]; error?: { readonly message?: string } } = {}
  try {
    body = JSON.parse(text) as typeof body
  } catch {
    // A proxy's page is no JSON.
  }
  const problems = (Array.isArray(body.detail) ? body.detail : []) as readonly FieldProblem[]
  const message =
    body.reason ??
    body.error?.message ??
    problems.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('. ')
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN)
  return new ApiError(
    response.status,
    message || `The service answered ${response.status}.`,
    response.headers.get('x-request-id') ?? '',
    Number.isNaN(retryAfter) ? undefined : retryAfter,
    problems,
    body,
  )
}

let onSignedOut = (): void => undefined

/** Called when the service no longer knows the session. */
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener
}

const refuse = async (response: Response): Promise<never> => {
  const error = await errorOf(response)
  if (error.status === 401) onSignedOut()
  throw error
}

export const api = createClient<paths>({ baseUrl: '' })

const AS_OF = 'Tallytree-As-Of'

interface ReadsAsOf {
  /** For a read of a path. */
  readonly headers: (path: string) => Readonly<Record<string, string>>
  readonly onPosition: (asOf: string, position: string) => void
}

let readsAsOf: ReadsAsOf = { headers: () => ({}), onPosition: () => undefined }

/** Which state is read, and what is called with the position that an answer had. */
export const readAsOf = (reads: ReadsAsOf): void => {
  readsAsOf = reads
}

api.use({
  onRequest: ({ request, schemaPath }) => {
    for (const [name, value] of Object.entries(readsAsOf.headers(schemaPath)))
      // Further pages of a list name the position of the first.
      if (!request.headers.has(name)) request.headers.set(name, value)
    return undefined
  },
  onResponse: async ({ request, response }) => {
    if (!response.ok) await refuse(response)
    const [asOf, position] = [request.headers.get(AS_OF), response.headers.get('tallytree-position')]
    if (asOf !== null && position !== null) readsAsOf.onPosition(asOf, position)
    return undefined
  },
})

/** The data of a response that was not refused. */
export const dataOf = async <Data>(answered: Promise<{ data?: Data }>): Promise<Data> =>
  (await answered).data as Data

/** A response as text, for payloads whose digits `JSON.parse` would round. */
export const textOf = async (path: string, body: object, signal?: AbortSignal): Promise<string> => {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...readsAsOf.headers(path) },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  if (!response.ok) await refuse(response)
  return response.text()
}
