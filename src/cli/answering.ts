import { asking, ServiceSilent } from '../adapters/remote-service/request.js'

/** @throws OperatorError when something accepts connections and stays silent: it may be the service over these stores */
export const isAnswering = async (url: string): Promise<boolean> => {
  try {
    const answer = await asking(url, '')('/health')
    answer.resume()
    return true
  } catch (error) {
    if (error instanceof ServiceSilent) throw error
    return false
  }
}
