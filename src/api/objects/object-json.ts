import type { StoredVersion } from '../../projections/objects/queries.js'

export interface ObjectJsonOptions {
  readonly metadata_only: boolean
  readonly include_storage_size?: boolean
  readonly include_tags_and_aliases: boolean
}

/** Serialises a version and inserts its stored JSON content without parsing it. */
export const objectJson = (projectId: string, version: StoredVersion, shown: ObjectJsonOptions): string => {
  const { tags, aliases, is_latest } = version
  const members = {
    project_id: projectId,
    object_id: version.object_id,
    created_at: version.created_at,
    deleted_at: version.deleted_at,
    digest: version.digest,
    version_index: version.version_index,
    is_latest: is_latest ? 1 : 0,
    kind: version.kind,
    base_object_class: version.base_object_class,
    leaf_object_class: version.leaf_object_class,
    wb_user_id: version.wb_user_id,
    ...(shown.include_storage_size === true ? { size_bytes: version.val_bytes } : {}),
    ...(shown.include_tags_and_aliases
      ? { tags, aliases: is_latest ? [...aliases, 'latest'] : aliases }
      : {}),
  }
  return `${JSON.stringify(members).slice(0, -1)},"val":${version.val ?? '{}'}}`
}
