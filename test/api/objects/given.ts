import type { TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'

/** A version of an object as clients read it. */
export interface ReadObject {
  readonly object_id: string
  readonly digest: string
  readonly created_at: string
  readonly version_index: number
  readonly is_latest: 0 | 1
  readonly base_object_class: string | null
  readonly leaf_object_class: string | null
  readonly wb_user_id: string | null
  readonly val: unknown
  readonly size_bytes?: number
  readonly tags?: readonly string[]
  readonly aliases?: readonly string[]
}

/** What tests of objects do, over one service. */
export const objectsOf = (service: TestService) => {
  const publish = async (project_id: string, object_id: string, val: unknown, more: object = {}) =>
    textIn(await service.in(project_id).objects.create(object_id, val, more).json(), 'digest')

  const ask = (project_id: string, object_id: string, digest: string, more: object = {}) =>
    service.in(project_id).objects.read({ object_id, digest, ...more })

  const read = async (project_id: string, object_id: string, digest: string, more: object = {}) =>
    accepted(await ask(project_id, object_id, digest, more))['obj'] as unknown as ReadObject

  const query = async (project_id: string, body: object = {}) => {
    const { objs } = await service.in(project_id).objects.query(body).json()
    return objs as unknown as readonly ReadObject[]
  }

  const remove = (project_id: string, object_id: string, digests?: readonly string[] | null) =>
    service.in(project_id).objects.delete({ object_id, ...(digests === undefined ? {} : { digests }) })

  const tag = (project_id: string, object_id: string, version: string, tags: readonly unknown[]) =>
    service.send('PUT', `/objs/${object_id}/versions/${version}/tags`, { project_id, tags })

  const alias = (project_id: string, object_id: string, digest: string, aliases: readonly unknown[]) =>
    service.send('PUT', `/objs/${object_id}/aliases`, { project_id, digest, aliases })

  return { publish, ask, read, query, remove, tag, alias }
}
