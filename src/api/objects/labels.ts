import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../domain/codec/codec.js'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import type { Cause } from '../../domain/event.js'
import { execute } from '../../runtime/execute.js'
import { projectId } from '../../domain/ids.js'
import type { ObjectCommand } from '../../domain/object/commands.js'
import { objectDecider } from '../../domain/object/decider.js'
import { objectId, objectStream } from '../../domain/object/events.js'
import { aliasName, tagName } from '../../domain/object/labels.js'
import { refuseIf } from '../auth/rights.js'
import { writesProject } from '../conduct.js'
import { invalid } from '../failure.js'
import type { Principal } from '../principal.js'
import { requireReading } from '../projects/access.js'
import { nothingToSay } from '../nothing-to-say.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import type { Objects } from './objects.js'

const user = { wb_user_id: nullable(string) }

const tagsBody = closed('ObjectTagsBody', {
  required: { project_id: projectId, tags: arrayOf(tagName) },
  optional: user,
})

const aliasesBody = closed('ObjectSetAliasesBody', {
  required: { project_id: projectId, digest: string, aliases: arrayOf(aliasName) },
  optional: user,
})

const noAliasesBody = closed('ObjectRemoveAliasesBody', {
  required: { project_id: projectId, aliases: arrayOf(string) },
  optional: user,
})

type LabelCommand = Exclude<ObjectCommand, { readonly type: 'PublishObject' | 'DeleteVersions' }>

/** Tags and aliases of versions. A path or a body names the version as `/obj/read` does. */
export const labelRoutes = ({ ports, teams, reading }: Objects): readonly AnyRoute[] => {
  const run = async (command: LabelCommand, principal: Principal, cause: Cause) => {
    const { project_id, object_id } = command
    requireReading(teams, principal, project_id)
    const stream = objectStream(project_id, object_id)
    const { refusals, position } = await execute(ports)(objectDecider, stream, [command], cause)
    refuseIf(refusals.get(0))
    return { body: {}, position: reading.acknowledged(project_id, position) }
  }

  const ofObject = ({ params, principal, body }: Asked<{ readonly project_id: string }>) => ({
    project_id: body.project_id,
    object_id: objectInPath(params),
    wb_user_id: principal.userId,
  })

  const ofVersion = (asked: Asked<{ readonly project_id: string }>) => ({
    ...ofObject(asked),
    version: asked.params['digest']!,
  })

  return [
    route({
      method: 'put',
      path: '/objs/:object_id/versions/:digest/tags',
      summary: 'Give tags to a version of an object.',
      body: tagsBody,
      ...writesProject,
      answer: nothingToSay,
      handle: (asked) => {
        const { tags } = asked.body
        return run({ type: 'AddTags', ...ofVersion(asked), tags }, asked.principal, asked.cause)
      },
    }),
    route({
      method: 'post',
      path: '/objs/:object_id/versions/:digest/tags/remove',
      summary: 'Take tags from a version of an object; those that it does not have change nothing.',
      body: closed('ObjectRemoveTagsBody', {
        required: { project_id: projectId, tags: arrayOf(string) },
        optional: user,
      }),
      ...writesProject,
      answer: nothingToSay,
      handle: (asked) => {
        const { tags } = asked.body
        return run({ type: 'RemoveTags', ...ofVersion(asked), tags }, asked.principal, asked.cause)
      },
    }),
    route({
      method: 'put',
      path: '/objs/:object_id/aliases',
      summary: 'Point aliases at a version of an object; each points at one version at a time.',
      body: aliasesBody,
      ...writesProject,
      answer: nothingToSay,
      handle: (asked) => {
        const { digest: version, aliases } = asked.body
        const command = { type: 'SetAliases', ...ofObject(asked), version, aliases } as const
        return run(command, asked.principal, asked.cause)
      },
    }),
    route({
      method: 'post',
      path: '/objs/:object_id/aliases/remove',
      summary: 'Remove aliases of an object; those that are not set change nothing.',
      body: noAliasesBody,
      ...writesProject,
      answer: nothingToSay,
      handle: (asked) => {
        const { aliases } = asked.body
        return run({ type: 'RemoveAliases', ...ofObject(asked), aliases }, asked.principal, asked.cause)
      },
    }),
  ]
}

const decodePath = decode(open('Path', { required: { object_id: objectId } }))

const objectInPath = (params: Readonly<Record<string, string>>): string => {
  const decoded = decodePath(params)
  if (E.isRight(decoded)) return decoded.right.object_id
  throw invalid(decoded.left.map((problem) => ({ ...problem, loc: ['path', ...problem.loc] })))
}
