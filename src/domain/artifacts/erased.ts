import type { ErasureRules } from '../erased-content.js'

/** Versions that are linked to a registry have a copy of the metadata. */
export const artifactErasures: ErasureRules = {
  CollectionDescribed: () => ({ description: null }),
  VersionCreated: () => ({ metadata: {}, files: [], manifest: null, description: null }),
  VersionDescribed: () => ({ metadata: {}, description: null }),
  VersionLinked: () => ({ metadata: {} }),
  ArtifactDrafted: () => ({ metadata: {}, description: null }),
}
