import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { nothing, type Decider, type EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { alias, artifactType, tag } from './events.js'
import { collectionName } from './place.js'

const required = { project_id: projectId, artifact_id: id }

const artifactDrafted = open('ArtifactDrafted', {
  says: 'A client began to upload an artifact. It becomes a version when it is committed, and is invisible until then.',
  required: {
    ...required,
    collection: collectionName,
    digest: string,
    metadata: jsonObject,
    aliases: arrayOf(alias),
    tags: arrayOf(tag),
    drafted_at: instant,
  },
  optional: {
    type: nullableText(artifactType),
    description: nullableText(string),
    run_id: nullable(id),
    history_step: nullable(int64),
    ttl_seconds: nullable(int64),
  },
})

const manifestNamed = open('ManifestNamed', {
  says:
    'The client named the list of files of the artifact that it uploads by its MD5. `base_id` is the version whose files ' +
    'the artifact has too, if it is incremental.',
  required: { ...required, md5: string },
  optional: { base_id: nullable(id) },
})

export const draftEvents = { ArtifactDrafted: artifactDrafted, ManifestNamed: manifestNamed }

export type DraftEvent = EventOf<typeof draftEvents>
export type ArtifactDrafted = t.TypeOf<typeof artifactDrafted>

export const draftStream = (projectId: string, artifactId: string): string =>
  `draft-${projectId}/${artifactId}`

export interface DraftState {
  readonly drafted: ArtifactDrafted | null
  /** In hexadecimal. */
  readonly manifest: string | null
  readonly base: string | null
}

type DraftCommand =
  | { readonly type: 'DraftArtifact'; readonly draft: ArtifactDrafted }
  | { readonly type: 'NameManifest'; readonly md5: string; readonly base_id: string | null }

export const draftDecider: Decider<DraftState, DraftCommand, DraftEvent> = {
  initialState: () => ({ drafted: null, manifest: null, base: null }),
  evolve: (state, event) => {
    switch (event.type) {
      case 'ArtifactDrafted':
        return { ...state, drafted: event.data }
      case 'ManifestNamed':
        return { ...state, manifest: event.data.md5, base: event.data.base_id ?? null }
      default:
        return state
    }
  },
  decide: ({ drafted, manifest, base }, command) => {
    if (command.type === 'DraftArtifact')
      return drafted === null ? { events: [{ type: 'ArtifactDrafted', data: command.draft }] } : nothing
    if (drafted === null)
      return { events: [], refused: { kind: 'not-found', reason: 'Artifact not found in the project.' } }
    const { project_id, artifact_id } = drafted
    const { md5, base_id } = command
    return md5 === manifest && base_id === base
      ? nothing
      : { events: [{ type: 'ManifestNamed', data: { project_id, artifact_id, md5, base_id } }] }
  },
}
