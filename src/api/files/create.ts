import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { execute } from '../../runtime/execute.js'
import { fileDecider } from '../../domain/file/decider.js'
import { fileStream } from '../../domain/file/events.js'
import { entityOf, projectId } from '../../domain/ids.js'
import { weaveDigest } from '../../domain/weave-digest.js'
import { writesOnce } from '../conduct.js'
import { Failure, invalidField } from '../failure.js'
import { requireReading, requireWriting } from '../projects/access.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { readUpload, type Upload } from './read-upload.js'
import type { Files } from './files.js'

/** `/file/create`, and under its newer name `/files/create`: a file by its content. */
export const createRoutes = ({ ports, teams, reading }: Files): readonly AnyRoute[] => {
  const create = async ({ headers, stream, principal: asking, principalNow, cause }: Asked<undefined>) => {
    const mayStore = (fields: Upload['fields']) => {
      const named = fields.get('project_id')
      return named === undefined || (projectId.is(named) && teams.mayUse(asking, entityOf(named)))
    }
    const { fields, file } = await readUpload(ports.blobs, headers, stream, mayStore)
    const principal = principalNow()
    const project_id = projectOf(fields)
    requireReading(teams, principal, project_id)
    if (file === undefined) throw invalidField(['file'], 'missing', 'Field required')
    const digest = weaveDigest(file.digest)
    requireExpected(fields, digest)
    await requireWriting(teams, principal, project_id, cause)
    const stored = { project_id, digest, blob: file.digest, size: file.size, wb_user_id: principal.userId }
    const { position } = await execute(ports)(
      fileDecider,
      fileStream(project_id, digest),
      [{ type: 'StoreFile', file: stored }],
      cause,
      { assumeNew: true },
    )
    return { body: { digest }, position: reading.acknowledged(project_id, position) }
  }

  return ['/file/create', '/files/create'].map((path) =>
    route({
      method: 'post',
      path,
      summary:
        'Store a file: a multipart form with the parts project_id and file, and expected_digest if known.',
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
      ...writesOnce,
      answer: open('FileCreateResponse', { required: { digest: string } }),
      handle: create,
    }),
  )
}

const projectOf = (fields: Upload['fields']): string => {
  const project_id = fields.get('project_id')
  if (project_id === undefined) throw invalidField(['project_id'], 'missing', 'Field required')
  if (projectId.is(project_id)) return project_id
  throw invalidField(['project_id'], 'string_pattern_mismatch', "String should be 'entity/project'")
}

/** A client that computed the digest itself learns that the content changed on its way, and nothing is recorded. */
const requireExpected = (fields: Upload['fields'], digest: string): void => {
  const expected = fields.get('expected_digest') ?? ''
  if (expected !== '' && expected !== digest)
    throw new Failure('conflict', `The file's digest is ${digest}, not the expected_digest of the form.`)
}
