import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { execute } from '../../runtime/execute.js'
import { fileDecider } from '../../domain/file/decider.js'
import { fileStream } from '../../domain/file/events.js'
import { entityOf, projectId } from '../../domain/ids.js'
import { weaveDigest } from '../../domain/weave-digest.js'
import type { Authorization } from '../authorization.js'
import { Failure, invalidField } from '../failure.js'
import { authorizeRead } from '../projects/access.js'
import type { AnyRoute } from '../route.js'
import { writeAuthorized } from '../route-kinds.js'
import { writing } from '../run.js'
import { readUpload, type Upload } from './read-upload.js'
import type { Files } from './files.js'

/** `/files/create` is the newer name. */
export const createRoutes = (files: Files): readonly AnyRoute[] =>
  ['/file/create', '/files/create'].map((path) =>
    writeAuthorized(files, {
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
      authorization: uploadToProject(files),
      handle: ({ upload: { fields, file }, project: project_id, principal }) => {
        if (file === undefined) throw invalidField(['file'], 'missing', 'Field required')
        const digest = weaveDigest(file.digest)
        requireExpected(fields, digest)
        const { digest: blob, size } = file
        const stored = { project_id, digest, blob, size, wb_user_id: principal.userId }
        const command = { type: 'StoreFile', file: stored } as const
        const stream = fileStream(project_id, digest)
        return writing(
          (cause) => execute(files.ports)(fileDecider, stream, [command], cause, { assumeNew: true }),
          { respond: () => ({ body: { digest } }) },
        )
      },
    }),
  )

/** The project is only known after reading the form, which may take long: the key is checked again. */
const uploadToProject = ({
  ports,
  teams,
}: Files): Authorization<{ readonly project: string; readonly upload: Upload }> => ({
  errors: ['not-found'],
  authorize: async ({ headers, stream, principal, reauthenticate }) => {
    const mayStore = (fields: Upload['fields']) => {
      const named = fields.get('project_id')
      return named === undefined || (projectId.is(named) && teams.canAccessTeam(principal, entityOf(named)))
    }
    const upload = await readUpload(ports.blobs, headers, stream, mayStore)
    const principalNow = reauthenticate()
    const project = projectOf(upload.fields)
    authorizeRead(teams, principalNow, project)
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
const requireExpected = (fields: Upload['fields'], digest: string): void => {
  const expected = fields.get('expected_digest') ?? ''
  if (expected !== '' && expected !== digest)
    throw new Failure(
      'conflict',
      `The digest of the file is ${digest}, which differs from the expected_digest in the form.`,
    )
}
