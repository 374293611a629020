import { BucketUnavailable } from '../../kernel/ports/bucket.js'
import type { BucketAddress } from '../../kernel/ports/objects-url.js'

/** What an error of the client may carry. */
interface ClientError {
  readonly name?: string
  readonly code?: string
  readonly message?: string
  readonly Region?: string
  readonly ServerTime?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

const CERTIFICATE = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT|HOSTNAME_MISMATCH)/
const FULL =
  /^(QuotaExceeded|InsufficientStorage|InsufficientCapacity|XMinioStorageFull|StorageFull|NoSpaceLeft)/
const KEYS = /^(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidSecurity|InvalidToken|TokenRefreshRequired)$/
const SLOW =
  /^(SlowDown|TooManyRequests|RequestLimitExceeded|Throttling|ThrottlingException|ServiceUnavailable|503)$/

/** Whether the store asks for fewer requests. */
export const isSlowDown = (error: unknown): boolean => {
  const { name = '', $metadata } = error as ClientError
  return SLOW.test(name) || $metadata?.httpStatusCode === 503 || $metadata?.httpStatusCode === 429
}

export const statusOf = (error: unknown): number | undefined =>
  (error as ClientError).$metadata?.httpStatusCode

/** Why an action, such as `s3:PutObject`, failed. Never quotes what the store says, which may hold names of keys. */
export const unavailable = (
  { bucket, endpoint, region }: BucketAddress,
  action: string,
  error: unknown,
): BucketUnavailable => {
  if (error instanceof BucketUnavailable) return error
  const at = endpoint === undefined ? 'AWS' : new URL(endpoint).host
  const reason = causeOf(error as ClientError, action, region)
  return new BucketUnavailable(reason, { cause: error, where: `the bucket ${bucket} at ${at}` })
}

const causeOf = (error: ClientError, action: string, region: string | undefined): string =>
  ofNetwork(error) ?? ofCredentials(error) ?? ofAnswer(error, action, region)

const ofNetwork = (error: ClientError): string | undefined => {
  const code = codeOf(error)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `unknown host (${code}); check endpoint, region and path_style`
  if (CERTIFICATE.test(code))
    return `its certificate is not trusted (${code}); name the authority in NODE_EXTRA_CA_CERTS`
  if (code === 'EPROTO') return 'it does not answer with TLS (EPROTO); use http:// in endpoint'
  if (/^E[A-Z]+$/.test(code)) return `no connection (${code})`
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no answer within the time limit'
  return undefined
}

/** Of an error that several addresses caused, the first one's. */
const codeOf = ({ code, cause, errors }: ClientError): string =>
  code ?? ((errors?.[0] ?? cause) as ClientError | undefined)?.code ?? ''

const ofCredentials = ({ name = '', ServerTime }: ClientError): string | undefined => {
  if (name === 'RequestTimeTooSkewed')
    return `the clock of this machine is wrong (${name}${ServerTime === undefined ? '' : `: the store has ${ServerTime}`})`
  if (name === 'CredentialsProviderError')
    return "no credentials; AWS' own chain looks at AWS_ACCESS_KEY_ID, profiles, web identity and the instance"
  if (name === 'ExpiredToken' || name === 'ExpiredTokenException')
    return `the credentials have expired (${name})`
  return KEYS.test(name) ? `the credentials are wrong (${name})` : undefined
}

const ofAnswer = (error: ClientError, action: string, region: string | undefined): string => {
  const { name = '', message = '', Region, $response } = error
  const status = statusOf(error)
  const right = Region ?? $response?.headers?.['x-amz-bucket-region']
  if (message === 'Region is missing') return 'no region; add region= to the URL or set AWS_REGION'
  if (right !== undefined && right !== region && (status === 301 || status === 307 || status === 400))
    return `it is in another region: use region=${right}`
  if (status !== undefined && status >= 300 && status < 400)
    return `it redirects (${name}), which is not followed; check endpoint, region and path_style`
  if (name === 'NoSuchBucket') return 'there is no such bucket'
  if (FULL.test(name) || status === 507) return `it is full (${shown(name)})`
  if (isSlowDown(error)) return `it takes no more requests at present (${shown(name)})`
  if (status === 403) return `${action} is denied (${shown(name)})`
  if (status === 501) return `it does not support ${action} as it is sent (${shown(name)})`
  if (/deserializ|not valid|parse/i.test(message))
    return `the answer to ${action} is not one of S3; check endpoint`
  return `${action} was answered ${status ?? 'with an error'} (${shown(name)})`
}

const shown = (name: string): string => (/^[A-Za-z0-9.]{1,64}$/.test(name) ? name : 'unknown')
