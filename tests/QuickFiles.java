// SPDX-License-Identifier: Apache-2.0
package plait.tests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local files, whose permissions the JVM sets itself.
 *
 * <p>Without its native library Hadoop starts a process, chmod, for each file that it makes: for a stream of a few
 * rows some hundred.
 *
 * <p>Not promised: the sticky bit.
 */
public final class QuickFiles extends LocalFileSystem {
  public QuickFiles() {
    super(new Raw());
  }

  private static final class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      String rights =
          permission.getUserAction().SYMBOL
              + permission.getGroupAction().SYMBOL
              + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(
          pathToFile(path).toPath(), PosixFilePermissions.fromString(rights));
    }
  }
}
