import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { blobStoreContract } from './blob-store-contract.js'

blobStoreContract('the blob store in memory', async () => ({
  store: openInMemoryBlobStore(),
  dispose: async () => undefined,
}))
