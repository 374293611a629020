import * as E from 'fp-ts/lib/Either.js'

/** A bucket, and where its keys begin. */
export interface BucketAddress {
  readonly bucket: string
  /** Empty, or ends in a slash. */
  readonly prefix: string
  /** Undefined leaves the choice to AWS' own variables and profiles. */
  readonly region: string | undefined
  /** Undefined for AWS itself. */
  readonly endpoint: string | undefined
  readonly pathStyle: boolean
  /** Where clients reach the store. Without it all content passes the service. */
  readonly publicEndpoint: string | undefined
}

const FORM =
  'must be the URL of a bucket, s3://bucket/prefix?region=eu-central-1, with endpoint=https://host for another store than AWS'
const OPTIONS = new Set(['region', 'endpoint', 'path_style', 'public_endpoint'])
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^[A-Za-z0-9!_.*'()/-]*$/
const AZURE = /(^|\.)(blob|dfs)\.core\./i

/** Parses `s3://bucket/prefix?region=…&endpoint=https://…&path_style=true&public_endpoint=https://…`. */
export const bucketAddress = (text: string): E.Either<string, BucketAddress> => {
  const [, bucket = '', path = '', query = ''] = /^s3:\/\/([^/?#]*)\/?([^?#]*)\??([^#]*)$/.exec(text) ?? []
  if (bucket.includes('@'))
    return E.left('must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  if (!BUCKET.test(bucket)) return E.left(FORM)
  if (!PREFIX.test(path))
    return E.left(`${FORM}; the prefix must be letters, digits and any of ! _ . * ' ( ) / -`)
  const options = new URLSearchParams(query)
  const unknown = [...options.keys()].find((name) => !OPTIONS.has(name))
  if (unknown !== undefined)
    return E.left(`has the unknown option ${unknown}; the options are ${[...OPTIONS].join(', ')}`)
  const [endpoint, publicEndpoint] = ['endpoint', 'public_endpoint'].map(
    (name) => options.get(name) ?? undefined,
  )
  for (const [name, given] of Object.entries({ endpoint, public_endpoint: publicEndpoint }))
    if (given !== undefined && !isOrigin(given))
      return E.left(`${name} must be the http:// or https:// address of a store without a path`)
  if (endpoint !== undefined && AZURE.test(new URL(endpoint).hostname))
    return E.left("endpoint is Azure's blob service, which does not speak S3: put a gateway in front of it")
  const pathStyle = options.get('path_style') ?? String(endpoint !== undefined)
  if (!/^(true|false)$/.test(pathStyle)) return E.left('path_style must be true or false')
  const prefix = path.replace(/\/+$/, '')
  return E.right({
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: options.get('region') ?? (endpoint === undefined ? undefined : 'us-east-1'),
    endpoint,
    pathStyle: pathStyle === 'true',
    publicEndpoint,
  })
}

const isOrigin = (text: string): boolean =>
  /^https?:/i.test(text) && URL.canParse(text) && /^\/?$/.test(new URL(text).pathname + new URL(text).search)
