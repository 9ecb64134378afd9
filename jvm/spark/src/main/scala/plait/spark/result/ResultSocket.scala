// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.io.DataInputStream
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.charset.StandardCharsets.US_ASCII
import java.security.{MessageDigest, SecureRandom}
import java.util.HexFormat

/** A door on the loopback interface that opens once, to the one who knows the secret.
  *
  * Whoever connects sends the secret first, 64 hexadecimal digits. A caller with another one is
  * turned away and the door waits on; it shuts after the first right one, or after ten seconds.
  */
final class ResultSocket extends AutoCloseable {
  private val listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)

  val secret: String = {
    val bytes = new Array[Byte](ResultSocket.SecretBytes)
    ResultSocket.random.nextBytes(bytes)
    HexFormat.of.formatHex(bytes)
  }

  def port: Int = listener.getLocalPort

  /** The connection of the one who knew the secret; `SocketTimeoutException` if nobody came. */
  def accept(): Socket =
    try {
      val end = System.nanoTime + ResultSocket.Patience * 1000000L
      // Invariant: nobody who knew the secret has come so far.
      var caller: Option[Socket] = None
      while (caller.isEmpty) {
        listener.setSoTimeout(math.max(1, (end - System.nanoTime) / 1000000L).toInt)
        caller = admitted(listener.accept())
      }
      caller.get
    } finally close()

  override def close(): Unit = listener.close()

  private def admitted(caller: Socket): Option[Socket] = {
    val sent = new Array[Byte](secret.length)
    val known =
      try {
        caller.setSoTimeout(ResultSocket.Greeting)
        new DataInputStream(caller.getInputStream).readFully(sent)
        MessageDigest.isEqual(sent, secret.getBytes(US_ASCII))
      } catch { case _: java.io.IOException => false }
    if (known) Some(caller)
    else {
      caller.close()
      None
    }
  }
}

object ResultSocket {
  private val SecretBytes = 32
  private val Patience = 10000 // milliseconds until nobody will come any more
  private val Greeting = 1000 // milliseconds within which a caller says the secret
  private val random = new SecureRandom
}
