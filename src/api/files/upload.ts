import type { Services } from '../../application/services.js'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { BlobTooLarge, type BlobStore } from '../../kernel/ports/blobs.js'
import { weaveDigest } from '../../domain/objects/weave-digest.js'
import type { Authorization } from '../server/authorization.js'
import { Failure, invalid, invalidField } from '../../application/failure.js'
import { storeFile } from '../../application/files/files.js'
import { defaultEntity } from '../../application/principal.js'
import { authorizeRead } from '../../application/access/project-access.js'
import type { AnyRoute } from '../server/route.js'
import { writeAuthorized } from '../server/route-kinds.js'
import { writing } from '../server/run.js'

/** `/files/create` is the newer name. */
export const uploadRoutes = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'ids' | 'access' | 'reading' | 'throttle'>,
): readonly AnyRoute[] =>
  ['/file/create', '/files/create'].map((path) =>
    writeAuthorized(services, {
      method: 'post',
      path,
      summary:
        'Store a file from a multipart form with the parts project_id, file and, optionally, expected_digest.',
      form: {
        title: 'FileCreateForm',
        type: 'object',
        properties: {
          project_id: projectId.schema,
          file: { type: 'string', format: 'binary' },
          expected_digest: { type: 'string' },
        },
        required: ['project_id', 'file'],
      },
      errors: ['conflict'],
      response: open('FileCreateResponse', { required: { digest: string } }),
      authorization: uploadToProject(services),
      handle: ({ upload: { fields, file }, project: project_id, principal }) => {
        if (file === undefined) throw invalidField(['file'], 'missing', 'Field required')
        const digest = weaveDigest(file.digest)
        checkDigest(fields, digest)
        const { digest: blob, size } = file
        const stored = { project_id, digest, blob, size, wb_user_id: principal.userId }
        return writing(storeFile(services, { type: 'StoreFile', file: stored }), () => ({ digest }))
      },
    }),
  )

/** The project is only known after reading the form, which may take long: the key is checked again. */
const uploadToProject = ({
  access,
  blobs,
}: Pick<Services, 'blobs' | 'access'>): Authorization<{
  readonly project: string
  readonly upload: Upload
}> => ({
  errors: ['not-found'],
  authorize: async ({ headers, stream, principal, reauthenticate }) => {
    const mayStore = (fields: Upload['fields']) => {
      const named = fields.get('project_id')
      return named === undefined || (projectId.is(named) && access.canAccessProject(principal, named))
    }
    const upload = await readUpload(blobs, defaultEntity(principal), headers, stream, mayStore)
    const principalNow = reauthenticate()
    const project = projectOf(upload.fields)
    authorizeRead(access, principalNow, project)
    return { project, upload }
  },
})

const projectOf = (fields: Upload['fields']): string => {
  const project_id = fields.get('project_id')
  if (project_id === undefined) throw invalidField(['project_id'], 'missing', 'Field required')
  if (projectId.is(project_id)) return project_id
  throw invalidField(['project_id'], 'string_pattern_mismatch', "String should be 'entity/project'")
}

/** If the client sent a digest, detects content that was changed in transit and records nothing. */
const checkDigest = (fields: Upload['fields'], digest: string): void => {
  const expected = fields.get('expected_digest') ?? ''
  if (expected !== '' && expected !== digest)
    throw new Failure(
      'conflict',
      `The digest of the file is ${digest}, which differs from the expected_digest in the form.`,
    )
}

export interface Upload {
  readonly fields: ReadonlyMap<string, string>
  /** The file's content, already durable in the blob store. */
  readonly file: { readonly digest: string; readonly size: number; readonly name: string } | undefined
}

const MAX_FILE_BYTES = 104_857_600

/**
 * Reads a multipart form with at most one file and streams the file to the blob store, if `mayStore` accepts the fields
 * before it.
 */
export const readUpload = async (
  blobs: BlobStore,
  team: string,
  headers: IncomingHttpHeaders,
  body: Readable,
  mayStore: (fields: ReadonlyMap<string, string>) => boolean,
): Promise<Upload> => {
  const parser = parserOf(headers)
  const fields = new Map<string, string>()
  let files = 0
  let storing: Promise<Upload['file']> | undefined
  parser.on('field', (name: string, value: string) => fields.set(name, value))
  parser.on('file', (name: string, file: Readable, { filename }: { readonly filename?: string }) => {
    if (name === 'file') files += 1
    // An incomplete form emits an error on the file, even if nothing reads it yet.
    file.on('error', () => undefined)
    if (name !== 'file' || files > 1 || !mayStore(fields)) file.resume()
    else storing = store(blobs, team, file, filename ?? '')
    storing?.catch(() => file.resume())
  })
  await parsed(parser, body)
  const file = await storing
  if (files > 1)
    throw invalidField(['file'], 'value_error', 'Value error, only one file is allowed per request')
  return { fields, file }
}

const parsed = (parser: busboy.Busboy, body: Readable): Promise<void> =>
  new Promise((resolve, reject) => {
    const broken = () => {
      body.unpipe(parser)
      body.resume()
      // Destroying the parser also ends the file stream that is being stored.
      parser.destroy(new Error('the form is incomplete'))
      reject(malformed())
    }
    parser.on('close', resolve)
    parser.on('error', broken)
    body.on('error', broken)
    body.on('aborted', broken)
    body.pipe(parser)
  })

const store = async (
  blobs: BlobStore,
  team: string,
  file: Readable,
  name: string,
): Promise<Upload['file']> => {
  try {
    // The parser hangs if a file stream is destroyed before its end.
    const content = file.iterator({ destroyOnReturn: false })
    return { name, ...(await blobs.putStream(content, MAX_FILE_BYTES, team)) }
  } catch (error) {
    if (error instanceof BlobTooLarge)
      throw new Failure('too-large', `The file exceeds the limit of ${MAX_FILE_BYTES} bytes.`)
    throw error
  }
}

const parserOf = (headers: IncomingHttpHeaders) => {
  try {
    return busboy({
      headers,
      // Clients send names of files in UTF-8.
      defParamCharset: 'utf8',
      limits: { fields: 20, fieldSize: 64 * 1024, files: 5, parts: 30 },
    })
  } catch {
    throw malformed()
  }
}

const malformed = () =>
  invalid([
    {
      loc: ['body'],
      type: 'multipart_invalid',
      msg: 'Input should be a multipart form with the parts project_id and file',
    },
  ])
